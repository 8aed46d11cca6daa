"""The checked door of the solver: a board with an allowance of Adds comes in, a verdict with bounds and a solution
goes out.

`clearable` comes with a solution, which callers replay on `rules.py`. `unclearable` and every lower bound are proofs;
what the budget of nodes did not decide is `undecided`, or bounds that differ. The same board gives the same answer and
the same count of nodes in any process: budgets are nodes, and table sizes come from the caller.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from number_match.rules import ADD, Board, class_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Verdict = Literal["clearable", "unclearable", "undecided"]

SOLVER_BEHAVIOUR = 3
"""Goes up with every change that can alter a verdict, a bound, a solution or a count of nodes."""

MAX_SQUARES = 256
"""The largest board that the compiled arrays take, Adds included."""

MOST_ADDS = 64
"""Up to how many Adds are searched for, since every one takes memory: beyond, a larger allowance changes nothing."""


class BoardTooLarge(ValueError):
    """A board with more squares than the compiled arrays have."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is proven of a number: lower <= it <= upper; `upper` is None when nothing was found."""

    lower: int
    upper: int | None

    @property
    def decided(self) -> bool:
        return self.lower == self.upper


@dataclass(frozen=True, slots=True)
class SolveResult:
    """What the solver knows of a board with `board.adds` Adds.

    `par` (pairs in a clear with min Adds) is None unless min Adds is decided; `actions` (pairs and Adds, over all uses
    of the allowance) is set only when asked for; `solution` attains the upper bounds. `needs_early_add` tells whether
    every clear with min Adds makes an Add while a pair is left; None where that is not decided.
    """

    board: Board
    verdict: Verdict
    min_adds: Bounds
    par: Bounds | None
    solution: tuple[str, ...] | None
    nodes: int
    actions: Bounds | None = None
    needs_early_add: bool | None = None


def solve(
    board: Board,
    *,
    node_budget: int = 1_000_000,
    memory_mib: int = 1024,
    minimise: Literal["adds", "actions"] = "adds",
    verdict_only: bool = False,
) -> SolveResult:
    """Decide whether the board can be cleared with at most `board.adds` Adds.

    Args:
        node_budget: actions that all searches together may apply, probes included.
        memory_mib: room for the tables; when they are full the search forgets, and never errs.
        minimise: `adds` bounds min Adds and then par; `actions` bounds pairs + Adds besides, and the solution attains
            that.
        verdict_only: stop with the first solution; min Adds is bounded as far as that goes, and par only where it is
            free.

    Raises:
        BoardTooLarge: the board has more than 256 squares.
        ValueError: a budget below 1.
    """
    if node_budget < 1 or memory_mib < 1:
        raise ValueError(f"node budget {node_budget}, memory {memory_mib} MiB: expected at least 1")
    if len(board.cells) > MAX_SQUARES:
        raise BoardTooLarge(f"the board has {len(board.cells)} cells, the solver takes at most {MAX_SQUARES}")
    search = _Search(board, node_budget, memory_mib)
    search.adds()
    if verdict_only:
        return search.result(minimise)
    search.par()
    search.early()
    if minimise == "actions":
        search.actions()
    return search.result(minimise)


@dataclass
class _Search:
    """One board's search: what is spent, what is proven, what is found."""

    board: Board
    budget: int
    memory_mib: int
    nodes: int = 0
    lower: int = 0  # min Adds
    upper: int | None = None
    rest: int = 0  # of the best solution with `upper` Adds: the sum of the cells at its Adds
    rest_lower: int = 0
    found: list[int] | None = None  # the best solution, in the kernels' form
    needs_early_add: bool | None = None
    fewest: Bounds | None = None
    classes: NDArray[np.uint8] = field(init=False)
    links: int = field(init=False)

    def __post_init__(self) -> None:
        self.np, self.kernels = _compiled()
        rules = self.board.ruleset
        # on one column reading order goes down it: a wrap is then all that row and wrap would be together
        row = rules.row or rules.width == 1
        self.links = row * 1 | rules.column * 2 | (rules.diagonal and rules.width > 1) * 4 | rules.wrap * 8
        classes = bytes(self.board.cells).translate(CLASSES)
        self.classes = self.np.frombuffer(classes, self.np.uint8)
        self.counts = tuple(classes.count(number) for number in range(1, 6))
        self.active = sum(self.counts)
        self.odd = sum(count % 2 for count in self.counts)

    # the searches

    @property
    def left(self) -> int:
        return self.budget - self.nodes

    def _run(self, door: Any, squares: int, adds: int, *arguments: Any) -> tuple[int, list[int], Any]:
        """One kernel call: its answer, its counters, its actions."""
        np, width = self.np, self.board.width
        size = 64 if squares <= 64 else 128 if squares <= 128 else MAX_SQUARES
        out, counters = np.empty((adds + 1) * (size // 2 + 2), np.uint64), np.zeros(8, np.int64)
        memory = np.empty(self.kernels.room(size, width, adds), np.uint64)
        words = self.kernels.WORDS[size]
        answer = door(self.classes, width, self.links, words, *arguments, memory, out, counters)
        self.nodes += int(counters[1])
        return answer, counters.tolist(), out

    def _slots(self, squares: int, tables: int) -> int:
        """How many slots each table may have: growing holds the old one beside four times as much."""
        room = (self.memory_mib << 20) // (tables * 5 // 4 * (max(squares, 64) // 8 + 1) + 1)
        slots = 1024
        while 4 * slots <= room:
            slots *= 4
        return slots

    def _take(self, adds: int, rest: int, out: Any, count: int) -> None:
        self.upper, self.rest, self.found = adds, rest, out[:count].tolist()

    def _decide(self, budget: int) -> int:
        squares = len(self.classes)
        answer, counters, out = self._run(self.kernels.decide_board, squares, 0, budget, self._slots(squares, 2))
        if answer == 1:
            self._take(0, 0, out, counters[0])
        return answer

    def _lucky(self, adds: int, tries: int, budget: int, late: bool = False) -> bool:
        squares = len(self.classes) + self.active // 2
        arguments = (adds, int(late), tries, budget, self._slots(squares, 2), self.np.uint64(adds))
        rest, counters, out = self._run(self.kernels.lucky_board, squares, adds, *arguments)
        if rest >= 0:
            self._take(adds, rest, out, counters[0])
        return rest >= 0

    def _aimed(self, takes: tuple[int, ...], budget: int) -> int:
        squares = len(self.classes) + sum(takes)
        arguments = (self.np.array((0, *takes), self.np.int64), budget, self._slots(squares, 2))
        answer, counters, out = self._run(self.kernels.aimed_board, squares, 1, *arguments)
        if answer == 1:
            self._take(1, sum(takes), out, counters[0])
        return answer

    def _least(self, adds: int, bound: int, floor: int, budget: int, late: bool = False) -> tuple[bool, bool]:
        """Whether a clear with a rest of at most `bound` was found, and whether the search was complete."""
        squares = len(self.classes) + self.active * (2**adds - 1)
        slots = self._slots(min(squares, MAX_SQUARES), adds + 2)
        end, each, ever_found = self.nodes + budget, 20_000, False
        while True:
            arguments = (adds, int(late), bound, floor, end - self.nodes, each, slots)
            rest, counters, out = self._run(self.kernels.least_board, squares, adds, *arguments)
            if rest >= 0:
                self._take(adds, rest, out, counters[0])
                ever_found, bound = True, rest - 1
            complete = counters[2] == 0
            each *= 20
            if complete or bound < floor or self.nodes >= end or each > 20 * budget:
                return ever_found, complete or bound < floor

    # what is proven without a search

    def _floor(self, adds: int) -> int:
        """A lower bound of the rest with `adds` Adds, if fewer do not clear (kernels/adds.py says why)."""
        if not adds:
            return 0
        even = 4 if self.links & 9 == 9 else 2
        return (self.odd or even) + even * (adds - 1)

    # min Adds and par

    def adds(self) -> None:
        allowance = self.board.adds
        if not self.active:
            self.upper, self.found = 0, []
            return
        if self.odd:
            self.lower = 1
        else:
            answer = self._decide(self.left if not allowance else self.left // 4)
            if answer == 1:
                return
            self.lower = 1 if answer == 0 else 0
        for adds in range(1, min(allowance, MOST_ADDS) + 1):
            if self.left <= 0:
                break
            complete = self._with(adds)
            if self.upper is not None:
                break
            if complete and self.lower == adds:
                self.lower += 1

    def _with(self, adds: int) -> bool:
        """Look for a clear with exactly this many Adds; true when there is proven to be none."""
        if self.active <= SMALL:
            found, complete = self._least(adds, NO_BOUND, self._floor(adds), self.left)
            if found and complete:
                self.rest_lower = self.rest
            return not found and complete
        if self._lucky(adds, 100, self.left // 8):
            return False
        found, complete = self._least(adds, NO_BOUND, NO_BOUND, self.left // 2)
        return not found and complete

    def par(self) -> None:
        """Bring the rest down, and its lower bound up."""
        adds = self.upper
        if not adds or adds != self.lower:
            return
        self.rest_lower = max(self.rest_lower, self._floor(adds))
        if adds == 1:
            for size in range(self.rest_lower, self.rest, 2):
                proven = True
                for takes in _shares(size, self.counts):
                    if self.left <= 0:
                        return
                    answer = self._aimed(takes, self.left // 2 + 1)  # what stays open leaves room for more cells
                    proven &= answer == 0
                    if answer == 1:
                        return
                if proven and self.rest_lower == size:
                    self.rest_lower += 2
        if self.rest_lower < self.rest and self.left > 0:
            _, complete = self._least(adds, self.rest - 1, self.rest_lower, self.left)
            if complete:
                self.rest_lower = self.rest

    def early(self) -> None:
        """Whether min Adds takes an Add while a pair is left."""
        if self.upper is None or self.upper != self.lower:
            return
        assert self.found is not None
        if not self.upper or _adds_are_late(self.board, _actions(self.board, self.found)):
            self.needs_early_add = False
        elif self.left > 0:
            kept = self.rest, self.found
            found, complete = self._lucky(self.upper, 100, self.left // 8, late=True), False
            if not found and self.left > 0:
                found, complete = self._least(self.upper, NO_BOUND, NO_BOUND, self.left, late=True)
            self.rest, self.found = kept
            self.needs_early_add = False if found else True if complete else None

    # actions

    def actions(self) -> None:
        """Bound pairs + Adds over all uses of the allowance."""
        if self.found is None:
            return
        assert self.upper is not None
        best = (self.active + self.rest) // 2 + self.upper
        lower = best
        for adds in range(self.lower, self.board.adds + 1):
            least = (self.active + self._floor(adds) + 1) // 2 + adds
            if adds == self.upper:
                lower = min(lower, (self.active + max(self.rest_lower, self._floor(adds))) // 2 + adds)
            elif least < best:
                if 0 < adds <= MOST_ADDS and self.left > 0:
                    kept = self.upper, self.rest, self.found
                    found, complete = self._least(adds, 2 * (best - 1 - adds) - self.active, 0, self.left)
                    solution, rest = self.found, self.rest
                    self.upper, self.rest, self.found = kept
                    if found:
                        best = (self.active + rest) // 2 + adds
                        self.fewest_actions = solution
                    if complete:
                        least = best
                lower = min(lower, least)
        self.fewest = Bounds(min(lower, best), best)

    fewest_actions: list[int] | None = None

    def result(self, minimise: str) -> SolveResult:
        verdict: Verdict
        if self.found is not None:
            verdict = "clearable"
        else:
            verdict = "unclearable" if self.lower > self.board.adds else "undecided"
        par = None
        if self.upper is not None and self.upper == self.lower:
            floor = max(self.rest_lower, self._floor(self.upper))
            par = Bounds((self.active + floor) // 2, (self.active + self.rest) // 2)
        solution = self.fewest_actions if minimise == "actions" and self.fewest_actions else self.found
        return SolveResult(
            board=self.board,
            verdict=verdict,
            min_adds=Bounds(self.lower, self.upper),
            par=par,
            solution=None if solution is None else tuple(_actions(self.board, solution)),
            nodes=self.nodes,
            actions=self.fewest,
            needs_early_add=self.needs_early_add,
        )


CLASSES = bytes([0, *(class_of(digit) for digit in range(1, 10)), *range(10, 256)])
ADD_CODE = 0xFFFFFFFF

SMALL = 12
"""Up to so many active cells, all sets that can be reached are gone through at once."""

NO_BOUND = 1 << 40


@cache
def _compiled() -> tuple[Any, Any]:
    """numpy and the kernels, which take long to load: when the first board is solved."""
    import numpy

    from number_match.kernels import adds

    return numpy, adds


def _shares(size: int, counts: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All ways to leave `size` cells that removing pairs allows: as many of each class as have its parity, up to its
    count."""
    shares: list[tuple[int, ...]] = [()]
    for number, count in enumerate(counts):
        last = number == len(counts) - 1
        shares = [
            (*share, take)
            for share in shares
            for take in range(count % 2, count + 1, 2)
            if (sum(share) + take == size if last else sum(share) + take <= size)
        ]
    return shares


def _actions(board: Board, codes: list[int]) -> list[str]:
    """The kernels' actions, on squares that stay where they are until the next Add, as text on the collapsing board."""
    width = board.width
    digits = list(board.cells)
    active, moved = _rows(digits, width)
    actions: list[str] = []
    for code in codes:
        if code == ADD_CODE:
            actions.append(ADD)
            standing = [row for row, count in enumerate(active) if count]
            cells = [digit for row in standing for digit in digits[row * width : (row + 1) * width]]
            digits = cells + [digit for digit in cells if digit]
            active, moved = _rows(digits, width)
            continue
        s, t = code >> 16, code & 0xFFFF
        actions.append(f"{s - moved[s // width]}-{t - moved[t // width]}")
        digits[s] = digits[t] = 0
        for row in (s // width, t // width):
            active[row] -= 1
            if not active[row]:
                moved[row + 1 :] = [cells + width for cells in moved[row + 1 :]]
    return actions


def _rows(digits: list[int], width: int) -> tuple[list[int], list[int]]:
    """For each row how many active cells it has, and by how many cells it has moved up: none yet."""
    rows = [digits[start : start + width] for start in range(0, len(digits), width)]
    return [len(row) - row.count(0) for row in rows], [0] * len(rows)


def _adds_are_late(board: Board, actions: list[str]) -> bool:
    """Whether every Add comes where no pair is left."""
    for action in actions:
        if action == ADD and board.pairs():
            return False
        board = board.play(action)
    return True
