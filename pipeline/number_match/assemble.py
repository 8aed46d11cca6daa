"""Assembly: the Stages that a config asks for and a pool of scored puzzles come in, one puzzle and allowance a Stage
goes out.

The rule: every slot gets one (puzzle, allowance), every puzzle stands at most once, and the sum over the slots of
the squared distance to the target, in thousandths of a point, is the least there is. Ties are broken by a hash of
slot and puzzle, so that the answer is unique and needs no luck. Nothing further from its target than the tolerance
is ever used.

What couples Stages (near-duplicates within a window, so many of a family in a row) is kept by a second phase,
`repair`: the later Stage of a clash gives up that puzzle, or that family, and everything is assigned anew. What that
costs against the assignment without couplings, a lower bound of every answer, is reported as the gap. `milp` solves
both at once instead.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from number_match.config import AssembleConfig, Constraints, Curve, LevelConfig
from number_match.difficulty import HARDEST, THOUSAND
from number_match.rng import draw

ASSEMBLY_BEHAVIOUR = 1
_SAFE_BITS = 52  # sums of costs stay below 2**53, where a float64 holds every integer

Ints = NDArray[np.int64]


# ------------------------------------------------------------------------------------------------------------- slots


@dataclass(frozen=True, slots=True)
class Slot:
    """One Stage that is to be filled: the target in thousandths of a point, and what may stand there."""

    id: str
    level: int  # in this pack, from 1
    stage: int  # in its Level, from 1
    target: int
    adds: tuple[int, int]
    slack: int = 0
    floor: int | None = None  # least pass rate of the floor player, in thousandths of a point
    families: frozenset[str] | None = None
    early_add: bool = True  # a puzzle whose min Adds needs an Add made while pairs remain may stand here
    max_par: int | None = None
    max_actions: int | None = None
    puzzle: str | None = None  # the only one that may stand here

    def only(self, families: frozenset[str] | None) -> Slot:
        """The same slot for these families alone."""
        return replace(self, families=families)


def targets(curve: Curve, stages: int) -> list[int]:
    """The target of each of so many Stages, as difficulty in thousandths of a point (see `config.Curve`)."""
    start, end, depth = (round(x * THOUSAND) for x in (curve.start, curve.end, curve.depth))
    period = curve.period

    def between(a: int, b: int, step: int, steps: int) -> int:
        """The point `step` of `steps` on the way from a to b, rounded half up."""
        return a + (2 * (b - a) * step + steps) // (2 * steps) if steps > 0 else a

    values: list[int]
    if curve.kind == "list":
        values = [round(value * THOUSAND) for value in curve.values]
    elif curve.kind == "points":
        known = [(point.stage - 1, round(point.target * THOUSAND)) for point in curve.points]
        known = [(min(0, known[0][0]), known[0][1]), *known, (max(stages - 1, known[-1][0]), known[-1][1])]
        values = [
            next(
                between(a, b, i - left, right - left)
                for (left, a), (right, b) in itertools.pairwise(known)
                if left <= i <= right
            )
            for i in range(stages)
        ]
    elif curve.kind == "plateau":
        values = [between(start, end, i // period, (stages - 1) // period) for i in range(stages)]
    else:
        values = [between(start, end, i, stages - 1) for i in range(stages)]
        if curve.kind == "sawtooth":  # the relief is deepest at the first Stage of a period and gone at its last
            sign = -1 if curve.unit == "score" else 1
            values = [
                value + sign * (depth - between(0, depth, i % period, period - 1)) for i, value in enumerate(values)
            ]
    if curve.unit == "pass":
        values = [HARDEST - value for value in values]
    return [min(HARDEST, max(0, value)) for value in values]


def level_ids(settings: AssembleConfig, before: int) -> list[str]:
    """The ids of the Levels; `before` is how many stand in the pack already."""
    own = {level.level: level.id for level in settings.level}
    return [own.get(number) or f"L{before + number:03}" for number in range(1, settings.levels + 1)]


def slots(settings: AssembleConfig, adds: tuple[int, int], before: int = 0) -> list[Slot]:
    """Every Stage of the config, in order.

    Args:
        adds: the allowances of the run, where `[assemble]` does not narrow them.
        before: the number of Levels that an extended pack has already.
    """
    rules = settings.constraints
    own = {level.level: level for level in settings.level}
    curve = targets(settings.curve, settings.levels * settings.stages)
    found = []
    for number, level_id in enumerate(level_ids(settings, before), 1):
        level = own.get(number) or LevelConfig(level=number)
        start = (number - 1) * settings.stages
        aims = targets(level.curve, settings.stages) if level.curve else curve[start : start + settings.stages]
        families = level.families or settings.families
        floor = rules.floor if level.floor is None else level.floor
        for stage, target in enumerate(aims, 1):
            slot = Slot(
                id=f"{level_id}-S{stage:02}",
                level=before + number,
                stage=stage,
                target=target,
                adds=level.adds or settings.adds or adds,
                slack=rules.slack if level.slack is None else level.slack,
                floor=None if floor is None else round(floor * THOUSAND),
                families=frozenset(families) if families else None,
                early_add=(level.early_add or rules.early_add) == "allowed",
                max_par=rules.max_par,
                max_actions=rules.max_actions,
            )
            found.append(slot)
    return found


# -------------------------------------------------------------------------------------------------------------- pool


@dataclass(frozen=True)
class Pool:
    """Scored puzzles, a row each. Columns of `scores` and the like are allowances from 0; -1 means not known."""

    puzzles: Sequence[str]
    boards: Sequence[str]
    families: NDArray[np.str_]
    min_adds: Ints  # (n,) the Adds of the solution
    par: Ints  # (n,) the pairs of the solution
    early: NDArray[np.bool_]  # (n,) needs an early Add, or that is not known
    scores: Ints  # (n, allowances) difficulty in thousandths of a point
    floor: Ints | None = None  # (n, allowances) pass rate of the floor player, in thousandths of a point
    actions: Ints | None = (
        None  # (n,) median actions of the reference player when it clears the board; -1 when it never does
    )
    reserved: frozenset[str] = frozenset()  # puzzles that stand only where a slot names them

    @functools.cached_property
    def row(self) -> dict[str, int]:
        """The row of each puzzle."""
        return {puzzle: row for row, puzzle in enumerate(self.puzzles)}

    @functools.cached_property
    def all_families(self) -> frozenset[str]:
        """The names of the families."""
        return frozenset(np.unique(self.families).tolist())

    @functools.cached_property
    def free(self) -> NDArray[np.bool_]:
        """Which rows may stand anywhere."""
        return np.array([puzzle not in self.reserved for puzzle in self.puzzles], dtype=bool)

    @functools.cached_property
    def keys(self) -> NDArray[np.uint64]:
        """64 bits of each puzzle's id, for breaking ties."""
        return np.array([int(puzzle[2:18], 16) for puzzle in self.puzzles], dtype=np.uint64)

    def __len__(self) -> int:
        return len(self.puzzles)


def fits(slot: Slot, pool: Pool, adds: int) -> dict[str, NDArray[np.bool_]]:
    """For each setting that `slot` has, which rows it allows at an allowance."""
    known = {
        "assemble.constraints.slack": (pool.min_adds + slot.slack <= adds),
        "score": pool.scores[:, adds] >= 0,
        "assemble.pin": pool.free,
    }
    if slot.families is not None:
        known["assemble.families"] = np.isin(pool.families, sorted(slot.families))
    if slot.floor is not None and pool.floor is not None:
        known["assemble.constraints.floor"] = pool.floor[:, adds] >= slot.floor
    if not slot.early_add:
        known["assemble.constraints.early_add"] = ~pool.early
    if slot.max_par is not None:
        known["assemble.constraints.max_par"] = pool.par <= slot.max_par
    if slot.max_actions is not None and pool.actions is not None:
        known["assemble.constraints.max_actions"] = (pool.actions >= 0) & (pool.actions <= slot.max_actions)
    return known


@dataclass(frozen=True)
class Options:
    """(puzzle, allowance) choices for one slot, each puzzle once, at its nearest allowance: rows, allowances,
    distances."""

    rows: Ints
    adds: Ints
    distances: Ints


class Chooser:
    """Finds what may stand in a slot, nearest first. Slots that allow the same rows share one sorted table."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._tables: dict[Slot, list[tuple[int, Ints, Ints]]] = {}

    def _table(self, slot: Slot) -> list[tuple[int, Ints, Ints]]:
        """For each allowance of the slot: it, the rows that fit by rising score, and their scores."""
        kind = replace(slot, id="", level=0, stage=0, target=0)
        if kind not in self._tables:
            table = []
            for adds in range(slot.adds[0], slot.adds[1] + 1):
                if slot.puzzle is None:
                    rows = np.flatnonzero(np.logical_and.reduce(list(fits(slot, self.pool, adds).values())))
                else:  # the designer's word counts for more than the constraints, but for the slack
                    row = self.pool.row.get(slot.puzzle, -1)
                    good = (
                        row >= 0 and self.pool.min_adds[row] + slot.slack <= adds and self.pool.scores[row, adds] >= 0
                    )
                    rows = np.array([row] if good else [], dtype=np.int64)
                rows = rows[np.argsort(self.pool.scores[rows, adds], kind="stable")]
                table.append((adds, rows, self.pool.scores[rows, adds]))
            self._tables[kind] = table
        return self._tables[kind]

    def nearest(self, slot: Slot, count: int, limit: int = HARDEST, without: Ints | None = None) -> Options:
        """At least the `count` nearest puzzles for a slot, with all that are as near as the last of them; none
        beyond `limit`.

        `without` holds rows that are not wanted.
        """
        wide = count + (0 if without is None else len(without))
        rows, adds, scores = [], [], []
        for allowance, all_rows, all_scores in self._table(slot):
            here = int(np.searchsorted(all_scores, slot.target))
            left, right = max(0, here - wide), min(len(all_scores), here + wide)
            if left > 0:  # rows that are as near as the last one count too
                left = int(np.searchsorted(all_scores, all_scores[left], side="left"))
            if right < len(all_scores):
                right = int(np.searchsorted(all_scores, all_scores[right - 1], side="right"))
            rows.append(all_rows[left:right])
            scores.append(all_scores[left:right])
            adds.append(np.full(right - left, allowance, dtype=np.int64))
        row, add = np.concatenate(rows), np.concatenate(adds)
        distance = np.abs(np.concatenate(scores) - slot.target)
        wanted = distance <= limit
        if without is not None and len(without):
            wanted &= ~np.isin(row, without)
        row, add, distance = row[wanted], add[wanted], distance[wanted]
        order = np.lexsort((add, distance, row))  # of two allowances of a puzzle the nearer, then the smaller
        row, add, distance = row[order], add[order], distance[order]
        first = np.ones(len(row), dtype=bool)
        first[1:] = row[1:] != row[:-1]
        row, add, distance = row[first], add[first], distance[first]
        if len(row) > count:
            kept = distance <= np.partition(distance, count - 1)[count - 1]
            row, add, distance = row[kept], add[kept], distance[kept]
        return Options(row, add, distance)


# --------------------------------------------------------------------------------------------------------- assignment


@dataclass(frozen=True, slots=True)
class Place:
    """What stands in a slot: a row of the pool, an allowance, and the distance to the target in thousandths."""

    row: int
    adds: int
    distance: int


@dataclass(frozen=True)
class Assembly:
    """The answer. `places` has one element a slot; None where nothing could stand."""

    places: tuple[Place | None, ...]
    bound: int  # the least sum of squared distances without the couplings
    method: str
    moved: frozenset[int] = field(default=frozenset())  # slots that a coupling kept from their first puzzle or family

    @property
    def cost(self) -> int:
        """The sum of squared distances, in thousandths of a point squared; pinned Stages count nothing."""
        return sum(place.distance**2 for place in self.places if place)

    @property
    def unfilled(self) -> list[int]:
        """The slots where nothing could stand."""
        return [number for number, place in enumerate(self.places) if place is None]


def assemble(wanted: Sequence[Slot], pool: Pool, settings: AssembleConfig) -> Assembly:
    """The best puzzles for the slots under all constraints, by the config's method (see the top of this file)."""
    limit = round(settings.tolerance * THOUSAND)
    matching = Matching(wanted, Chooser(pool), limit)
    relaxed = matching.solve()
    bound = sum(place.distance**2 for place in relaxed if place)
    if settings.method == "milp" and None not in relaxed and any(_clashes(relaxed, pool, settings.constraints)):
        from number_match.milp import solve_coupled

        coupled = solve_coupled(wanted, matching.chooser, limit, settings)
        if coupled:
            return Assembly(tuple(coupled), bound, "milp", _changed(relaxed, coupled))
    repaired = _repair(matching, settings.constraints, relaxed)
    return Assembly(tuple(repaired), bound, "repair", _changed(relaxed, repaired))


def _changed(before: Sequence[Place | None], after: Sequence[Place | None]) -> frozenset[int]:
    return frozenset(number for number, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)


_FEW = 8


class Matching:
    """The minimum-cost assignment of slots to what each may choose; choices can be taken away and all be solved again.

    Few choices of each slot are looked at: the nearest ones, until it is proved that no other can belong to the best
    assignment. Of m slots none ever needs more than its m cheapest choices: were one given a dearer one, at most m - 1
    of the cheaper ones would be taken by others, and moving to a free one would cost less.
    """

    def __init__(self, wanted: Sequence[Slot], chooser: Chooser, limit: int) -> None:
        self.wanted, self.chooser, self.limit = list(wanted), chooser, limit
        self._without: list[list[int]] = [[] for _ in wanted]  # rows that a slot may not have
        self._barred: list[frozenset[str]] = [frozenset() for _ in wanted]
        self._counts = [min(_FEW, len(wanted)) for _ in wanted]
        self._options: list[Options | None] = [None for _ in wanted]

    def forbid(self, number: int, row: int) -> None:
        """Take a puzzle away from a slot."""
        self._without[number].append(row)
        self._options[number] = None

    def bar(self, number: int, family: str) -> None:
        """Take a family away from a slot."""
        self._barred[number] |= {family}
        self._options[number] = None

    def price(self, number: int, family: str) -> int:
        """The least distance that a slot would have without a family."""
        slot = self._slot(number, self._barred[number] | {family})
        distances = self.chooser.nearest(slot, 1, self.limit).distances
        return int(distances.min()) if len(distances) else HARDEST

    def _slot(self, number: int, barred: frozenset[str]) -> Slot:
        slot = self.wanted[number]
        if not barred:
            return slot
        return slot.only((slot.families or self.chooser.pool.all_families) - barred)

    def _choices(self, number: int) -> Options:
        options = self._options[number]
        if options is None:
            slot = self._slot(number, self._barred[number])
            limit = self.limit if slot.puzzle is None else HARDEST
            without = np.array(self._without[number], dtype=np.int64)
            options = self._options[number] = self.chooser.nearest(slot, self._counts[number], limit, without)
        return options

    def _more(self, numbers: Iterable[int]) -> bool:
        """Look at more choices of these slots; False when all that could matter are looked at already."""
        grown = False
        for number in numbers:
            count = self._counts[number]
            if len(self._choices(number).rows) >= count < len(self.wanted):
                self._counts[number] = min(4 * count, len(self.wanted))
                self._options[number] = None
                grown = True
        return grown

    def solve(self) -> list[Place | None]:
        """The best assignment; where it cannot be full, as many slots as possible are filled, as well as possible."""
        everyone = range(len(self.wanted))
        while True:
            choices = [self._choices(number) for number in everyone]
            rows = np.concatenate([options.rows for options in choices])
            if not len(rows):
                return [None for _ in everyone]
            pinned = np.array([slot.puzzle is not None for slot in self.wanted])
            lines = np.repeat(np.arange(len(choices)), [len(options.rows) for options in choices])
            squares = np.concatenate([options.distances for options in choices]) ** 2 * ~pinned[lines]
            columns, column = np.unique(rows, return_inverse=True)
            most = (int(squares.max()) + 1) * len(choices)
            bits = min(20, max(0, _SAFE_BITS - most.bit_length()))
            graph = Graph((squares << bits) + _ties(self.wanted, self.chooser.pool, lines, rows, bits), lines, column)
            matched = graph.cheapest(len(choices), len(columns))
            if matched is None:
                if self._more(everyone):
                    continue
                return self._places(choices, columns, _with_gaps(squares, lines, column, len(choices), len(columns)))
            dearest = np.array([int(options.distances.max(initial=0)) for options in choices])
            beyond = (dearest + 1) ** 2 << bits  # at least the cost of every choice that was not looked at
            if not self._more(np.flatnonzero(graph.worth(matched, len(columns)) > beyond)):
                return self._places(choices, columns, matched)

    def _places(self, choices: Sequence[Options], columns: Ints, matched: Ints) -> list[Place | None]:
        places: list[Place | None] = []
        for options, chosen in zip(choices, matched, strict=True):
            if chosen >= len(columns):
                places.append(None)
                continue
            at = int(np.searchsorted(options.rows, columns[chosen]))
            places.append(Place(int(options.rows[at]), int(options.adds[at]), int(options.distances[at])))
        return places


@dataclass(frozen=True)
class Graph:
    """What each line (a slot) may have of the columns (puzzles), an element an edge; costs are whole, 0 or more."""

    costs: Ints
    lines: Ints
    columns: Ints

    def cheapest(self, height: int, width: int) -> Ints | None:
        """The column of each line in the full assignment of least cost; None when there is no full one.

        scipy's dense solver (shortest augmenting paths) takes polynomial time whatever the costs. Its sparse one does
        not: where many lines want the same few columns at nearly equal costs, its reduction phase lowers prices by the
        small differences, one at a time.
        """
        from scipy.optimize import linear_sum_assignment

        if height > width:
            return None
        matrix = np.full((height, width), np.inf)
        matrix[self.lines, self.columns] = self.costs
        try:
            _, found = linear_sum_assignment(matrix)
        except ValueError:  # infeasible
            return None
        return np.asarray(found, dtype=np.int64)

    def worth(self, matched: Ints, width: int) -> Ints:
        """What filling each line costs at the margin: the dual of the least-cost assignment `matched`.

        A choice that was left out and costs at least that much cannot make the assignment better (linear programming
        duality). Prices of columns begin at 0 and fall while some line would rather have that column than its own, as
        in Bellman's and Ford's shortest paths; the price of a free column stays 0, since the assignment is optimal.
        """
        order = np.argsort(self.columns, kind="stable")
        costs, lines, columns = self.costs[order], self.lines[order], self.columns[order]
        starts = np.flatnonzero(np.diff(columns, prepend=-1))
        own = np.zeros(len(matched), dtype=np.int64)
        mine = columns == matched[lines]
        own[lines[mine]] = costs[mine]
        prices = np.zeros(width, dtype=np.int64)
        while True:
            worth = own - prices[matched]
            lower = np.minimum(prices, np.minimum.reduceat(costs - worth[lines], starts))
            if np.array_equal(lower, prices):
                return worth
            prices = lower


def _with_gaps(squares: Ints, lines: Ints, columns: Ints, height: int, width: int) -> Ints:
    """The best assignment where not all slots can be filled.

    A column of its own stands for leaving a slot empty, dearer than all else together.
    """
    empty = min(height * (int(squares.max()) + 1), (1 << _SAFE_BITS) // height)
    each = np.arange(height)
    graph = Graph(
        np.concatenate([squares, np.full(height, empty)]),
        np.concatenate([lines, each]),
        np.concatenate([columns, each + width]),
    )
    found = graph.cheapest(height, width + height)
    assert found is not None
    return found


def _ties(wanted: Sequence[Slot], pool: Pool, lines: Ints, rows: Ints, bits: int) -> Ints:
    """A number of so many bits for each (slot, puzzle)."""
    if bits == 0:
        return np.zeros(len(rows), dtype=np.int64)
    slot_keys = np.array(
        [int.from_bytes(blake2b(slot.id.encode()).digest()[:8], "big") for slot in wanted], dtype=np.uint64
    )
    mixed = draw(slot_keys[lines] ^ pool.keys[rows], np.uint64(0))
    return (mixed >> np.uint64(64 - bits)).astype(np.int64)


# ---------------------------------------------------------------------------------------------------------- couplings


@dataclass(frozen=True, slots=True)
class Clash:
    """Slots that may not be filled as they are: two near-duplicates, or too many of one family in a row."""

    slots: tuple[int, ...]
    family: str | None = None


def _clashes(places: Sequence[Place | None], pool: Pool, rules: Constraints) -> Iterator[Clash]:
    """What the couplings have against an assignment, from the first Stage on."""
    if rules.near_duplicates and rules.near_duplicates.distance > 0:
        near = rules.near_duplicates
        filled = [number for number, place in enumerate(places) if place]
        words = class_rows(pool.boards[place.row] for place in places if place)
        for a, b in near_pairs(words, near.distance, near.window):
            if filled[b] - filled[a] <= near.window:
                yield Clash((filled[a], filled[b]))
    if rules.family_in_row:
        families = [str(pool.families[place.row]) if place else None for place in places]
        start = 0
        for family, group in itertools.groupby(families):
            length = sum(1 for _ in group)
            if family:  # in every `family_in_row` + 1 Stages one has to change, which also parts the rest
                for first in range(start, start + length - rules.family_in_row, rules.family_in_row + 1):
                    yield Clash(tuple(range(first, first + rules.family_in_row + 1)), family)
            start += length


def _repair(matching: Matching, rules: Constraints, places: list[Place | None]) -> list[Place | None]:
    """Solve again until nothing clashes. Every round takes a choice away from some slot, so there is an end to it."""
    wanted = matching.wanted
    while clashes := list(_clashes(places, matching.chooser.pool, rules)):
        for clash in clashes:
            movable = [number for number in clash.slots if wanted[number].puzzle is None]
            if not movable:  # pinned so: the designer's word counts for more
                continue
            if clash.family is None:
                place = places[movable[-1]]
                assert place is not None
                matching.forbid(movable[-1], place.row)
            else:
                family = clash.family
                matching.bar(min(movable, key=lambda number: (matching.price(number, family), number)), family)
        if all(wanted[number].puzzle for clash in clashes for number in clash.slots):
            break
        places = matching.solve()
        if None in places:
            break
    return places


def class_rows(boards: Iterable[str]) -> NDArray[np.int8]:
    """Boards as rows of classes 1-5, 0 for a hole, -1 beyond the end: shape (boards, cells of the largest)."""
    texts = [board.replace("/", "") for board in boards]
    width = max(map(len, texts), default=0)
    classes = {str(digit): min(digit, 10 - digit) for digit in range(1, 10)} | {".": 0}
    rows = [[classes[char] for char in text] + [-1] * (width - len(text)) for text in texts]
    return np.array(rows, dtype=np.int8).reshape(len(rows), width)


_RENAMINGS = np.array(list(itertools.permutations(range(5))))
_CHUNK = 256


def near_pairs(words: NDArray[np.int8], distance: float, window: int | None = None) -> Iterator[tuple[int, int]]:
    """Pairs of rows (of `class_rows`) of which fewer than `distance` of the cells differ, classes renamed as fits best.

    Rows of different length differ in all the cells that only one has. Only rows at most `window` apart are compared.
    """
    lengths = (words >= 0).sum(axis=1)
    marks = [(words == number).astype(np.float32) for number in range(6)]  # holes, then the classes
    for start in range(0, len(words), _CHUNK):
        these = slice(start, start + _CHUNK)
        those = slice(start, None if window is None else start + _CHUNK + window)
        both = np.array([[upper[these] @ lower[those].T for lower in marks[1:]] for upper in marks[1:]])
        same = np.max([both[np.arange(5), renamed].sum(axis=0) for renamed in _RENAMINGS], axis=0)
        same += marks[0][these] @ marks[0][those].T
        cells = np.maximum(lengths[these, None], lengths[None, those])
        near = (cells - same) * THOUSAND < round(distance * THOUSAND) * cells
        for first, second in zip(*np.nonzero(near), strict=True):
            if first < second and (window is None or second - first <= window):
                yield start + int(first), start + int(second)


# ------------------------------------------------------------------------------------------------- shortlist, lacking


def shortlist(wanted: Sequence[Slot], pool: Pool, count: int, limit: int) -> list[set[int]]:
    """For each slot, up to `count` rows near its target, no row for two slots: turn by turn each slot takes its
    nearest.

    These are the boards whose `select` playouts decide. Slots take turns in the order of a hash of their ids, so that
    the first Stages have no better choice than the last.
    """
    chooser = Chooser(pool)
    turns = sorted(range(len(wanted)), key=lambda number: blake2b(wanted[number].id.encode()).digest())
    taken: set[int] = set()
    chosen: list[set[int]] = [set() for _ in wanted]
    queues: dict[int, Iterator[int]] = {}
    for _ in range(count):
        for number in turns:
            slot = wanted[number]
            if slot.puzzle is not None:
                if slot.puzzle in pool.row:
                    chosen[number].add(pool.row[slot.puzzle])
                continue
            if number not in queues:
                queues[number] = _by_distance(chooser, slot, limit, count * len(wanted))
            row = next((row for row in queues[number] if row not in taken), None)
            if row is not None:
                taken.add(row)
                chosen[number].add(row)
    return chosen


def _by_distance(chooser: Chooser, slot: Slot, limit: int, most: int) -> Iterator[int]:
    """Rows for a slot, nearest first, ties by puzzle id; fetched in growing portions."""
    count, given = 32, 0
    while True:
        options = chooser.nearest(slot, count, limit)
        ids = chooser.pool.keys[options.rows]
        order = np.lexsort((ids, options.distances))
        portion = options.rows[order][:count] if len(options.rows) > count else options.rows[order]
        yield from map(int, portion[given:])
        if len(portion) < count or count >= most:
            return
        given, count = len(portion), count * 4


@dataclass(frozen=True, slots=True)
class Alternative:
    """A puzzle that could stand in a slot, or the reason why it could not; the score is in thousandths."""

    puzzle: str
    adds: int
    score: int
    distance: int
    hindered: str  # the setting that keeps it away, or where it stands instead; empty when nothing does


def alternatives(slot: Slot, pool: Pool, count: int, used: dict[int, str]) -> list[Alternative]:
    """The nearest puzzles to a slot's target, whatever hinders them; `used` tells where a row stands."""
    found: list[Alternative] = []
    best: dict[int, tuple[int, int]] = {}
    for adds in range(slot.adds[0], slot.adds[1] + 1):
        distance = np.abs(pool.scores[:, adds] - slot.target)
        distance[pool.scores[:, adds] < 0] = HARDEST + 1
        for row in np.argsort(distance, kind="stable")[: count * 4]:
            key = (int(distance[row]), adds)
            if key[0] <= HARDEST and (int(row) not in best or key < best[int(row)]):
                best[int(row)] = key
    for row, (near, adds) in sorted(best.items(), key=lambda item: (item[1], pool.puzzles[item[0]]))[:count]:
        hindered = next((name for name, rows in fits(slot, pool, adds).items() if not rows[row]), "")
        if not hindered and row in used:
            hindered = f"stands at {used[row]}"
        found.append(Alternative(pool.puzzles[row], adds, int(pool.scores[row, adds]), near, hindered))
    return found


def lacking(slot: Slot, pool: Pool, tolerance: int) -> tuple[Alternative | None, str]:
    """Why a slot stayed empty: the nearest puzzle under its constraints, and the setting that would have to give."""
    if slot.puzzle is not None:
        return (
            None,
            "assemble.pin: that puzzle cannot be cleared within the allowance"
            if slot.puzzle in pool.row
            else "assemble.pin: that puzzle is not in the run",
        )
    options = Chooser(pool).nearest(slot, 1)
    nearest = None
    if len(options.rows):
        at = int(np.lexsort((pool.keys[options.rows], options.distances))[0])
        row, adds = int(options.rows[at]), int(options.adds[at])
        nearest = Alternative(pool.puzzles[row], adds, int(pool.scores[row, adds]), int(options.distances[at]), "")
        if nearest.distance <= tolerance:
            return nearest, "generate.candidates (every puzzle this near is wanted elsewhere)"
    for name in (
        "assemble.families",
        "assemble.constraints.floor",
        "assemble.constraints.early_add",
        "assemble.constraints.max_par",
        "assemble.constraints.max_actions",
        "assemble.constraints.slack",
    ):
        for adds in range(slot.adds[0], slot.adds[1] + 1):
            others = [rows for key, rows in fits(slot, pool, adds).items() if key != name]
            if name in fits(slot, pool, adds):
                good = np.logical_and.reduce(others) & (pool.min_adds <= adds)
                if bool(np.any(good & (np.abs(pool.scores[:, adds] - slot.target) <= tolerance))):
                    return nearest, name
    for adds in range(pool.scores.shape[1]):
        if not slot.adds[0] <= adds <= slot.adds[1]:
            good = np.logical_and.reduce(list(fits(slot, pool, adds).values()))
            if bool(np.any(good & (np.abs(pool.scores[:, adds] - slot.target) <= tolerance))):
                return nearest, "assemble.adds"
    return nearest, "generate.families or assemble.tolerance"
