"""What changed between two releases: two packs come in, a summary and a list of changes go out.

Stages are matched by puzzle id, since players' saves hang on it; targets, which belong to places, by Stage id. A change
of difficulty counts only when it is beyond what playouts vary by chance (`shifts.py`).
"""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from number_match.formats import DiffFormat
from number_match.models import ClientPack, ClientStage, Pack, Puzzle, Stage, document_of
from number_match.shifts import Counts, beyond_noise
from number_match.words import counted, interval, printable, shown

AnyPack = Pack | ClientPack


class Kind(StrEnum):
    """What can have changed, the loud ones first."""

    id_changed = "id-changed"  # an id that means another board now: saves break
    withdrawn_back = "withdrawn-back"  # a withdrawn id that is used or allowed again
    ruleset = "ruleset"
    replaced = "replaced"  # a puzzle that left, and a new one at its Stage
    removed = "removed"  # a puzzle that left, and no new one at its Stage
    added = "added"  # a puzzle that came, in no other's place
    moved = "moved"  # the same puzzle at another Stage, or elsewhere in the order
    allowance = "allowance"
    difficulty = "difficulty"  # beyond noise
    bounds = "bounds"  # min Adds or par
    solution = "solution"
    target = "target"  # of a Stage, whichever puzzle it holds
    withdrawn = "withdrawn"
    header = "header"  # anything else: title, generator, players, …


LOUD = (Kind.id_changed, Kind.withdrawn_back)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference, with both values.

    `stage` is the place in the new pack, or in the old one when it is gone; `puzzle` is the new one where another was
    replaced; `what` says which value it is, where a kind has several: `par`, `generator.seed`.
    """

    kind: Kind
    stage: str
    puzzle: str
    what: str
    old: str
    new: str

    @property
    def subject(self) -> str:
        """The puzzle that changed; nothing where both values name their own."""
        return "" if self.kind is Kind.replaced else self.puzzle

    def __str__(self) -> str:
        place = " ".join(part for part in (self.stage, self.subject) if part)
        both = f"{self.old} → {self.new}" if self.old and self.new else self.old or self.new
        return printable(f"{place and place + ': '}{self.what and self.what + ' '}{both}")


@dataclass(frozen=True, slots=True)
class Difference:
    """All that changed."""

    summary: str
    changes: tuple[Change, ...]

    def of(self, *kinds: Kind) -> list[Change]:
        """The changes of these kinds."""
        return [change for change in self.changes if change.kind in kinds]


@dataclass(frozen=True, slots=True)
class _Use:
    """A Stage, its Level and its place in the pack's order."""

    stage: ClientStage
    level: str
    number: int

    @property
    def place(self) -> tuple[str, str]:
        """The Level and the Stage it is in."""
        return self.level, self.stage.id


def _uses(pack: AnyPack) -> dict[str, _Use]:
    stages = ((level.id, stage) for level in pack.levels for stage in level.stages)
    return {stage.puzzle: _Use(stage, level, number) for number, (level, stage) in enumerate(stages)}


def _at_both(old: AnyPack, new: AnyPack) -> list[tuple[ClientStage, ClientStage]]:
    """The Stages whose id both packs have, in the order of the new one."""
    before, after = ({stage.id: stage for level in pack.levels for stage in level.stages} for pack in (old, new))
    return [(before[stage_id], stage) for stage_id, stage in after.items() if stage_id in before]


def diff(old: AnyPack, new: AnyPack) -> Difference:
    """What changed from `old` to `new`."""
    changes = sorted(
        [
            *_ids(old, new),
            *_places(old, new),
            *_stages(old, new),
            *_targets(old, new),
            *_shifts(old, new),
            *_header(old, new),
        ],
        key=lambda change: list(Kind).index(change.kind),
    )
    return Difference(_summary(old, new, changes), tuple(changes))


def _ids(old: AnyPack, new: AnyPack) -> Iterator[Change]:
    """What breaks saves, and what was withdrawn."""
    before, after = ({puzzle.id: puzzle for puzzle in pack.puzzles} for pack in (old, new))
    rules = old.ruleset.rules().settings, new.ruleset.rules().settings
    if rules[0] != rules[1]:
        yield Change(Kind.ruleset, "", "", "", f"{old.ruleset.id} ({rules[0]})", f"{new.ruleset.id} ({rules[1]})")
    elif old.ruleset.id != new.ruleset.id:
        yield Change(Kind.ruleset, "", "", "", old.ruleset.id, new.ruleset.id)
    for puzzle_id in sorted(before.keys() & after.keys()):
        if before[puzzle_id].board != after[puzzle_id].board or rules[0] != rules[1]:
            yield Change(Kind.id_changed, "", puzzle_id, "board", before[puzzle_id].board, after[puzzle_id].board)
        else:
            yield from _facts(before[puzzle_id], after[puzzle_id])
    for puzzle_id in sorted(set(old.withdrawn) | set(new.withdrawn)):
        if puzzle_id in after:
            yield Change(Kind.withdrawn_back, "", puzzle_id, "", "withdrawn", "used")
        elif puzzle_id not in new.withdrawn:
            yield Change(Kind.withdrawn_back, "", puzzle_id, "", "withdrawn", "no longer withdrawn")
        elif puzzle_id not in old.withdrawn:
            yield Change(Kind.withdrawn, "", puzzle_id, "", "", "withdrawn")


def _facts(old: Puzzle, new: Puzzle) -> Iterator[Change]:
    for name, before, after in (("min Adds", old.min_adds, new.min_adds), ("par", old.par, new.par)):
        if before != after:
            texts = ["undecided" if both is None else interval(both.lower, both.upper) for both in (before, after)]
            yield Change(Kind.bounds, "", old.id, name, *texts)
    for key in ("family", "canonical"):
        if getattr(old, key) != getattr(new, key):
            yield Change(Kind.header, "", old.id, key, getattr(old, key), getattr(new, key))


def _places(old: AnyPack, new: AnyPack) -> Iterator[Change]:
    """Puzzles that came, went, took another's place, or stand elsewhere."""
    before, after = _uses(old), _uses(new)
    gone = [puzzle for puzzle in before if puzzle not in after]
    for puzzle, use in after.items():
        if puzzle in before:
            continue
        there = next((other for other in gone if before[other].stage.id == use.stage.id), None)
        if there is None:
            yield Change(Kind.added, use.stage.id, puzzle, "", "", _words(use.stage))
        else:
            gone.remove(there)
            texts = [f"{stage.puzzle}, {_words(stage)}" for stage in (before[there].stage, use.stage)]
            yield Change(Kind.replaced, use.stage.id, puzzle, "", *texts)
    for puzzle in gone:
        yield Change(Kind.removed, before[puzzle].stage.id, puzzle, "", _words(before[puzzle].stage), "")
    kept = [puzzle for puzzle in after if puzzle in before]
    in_place = [puzzle for puzzle in kept if before[puzzle].place == after[puzzle].place]
    steady = {in_place[position] for position in _longest_rise([before[puzzle].number for puzzle in in_place])}
    for puzzle in kept:
        if puzzle not in steady:
            was, is_ = before[puzzle], after[puzzle]
            places = [was.stage.id, is_.stage.id]
            if was.stage.id == is_.stage.id:  # an id that does not tell the two places apart, so they are described
                places = [f"{use.level}, Stage {use.number + 1} of the pack" for use in (was, is_)]
            yield Change(Kind.moved, is_.stage.id, puzzle, "", *places)


def _words(stage: ClientStage, decimals: int = 1) -> str:
    return f"{counted(stage.adds, 'Add')}, difficulty {stage.difficulty.score:.{decimals}f} ({stage.difficulty.band})"


def _target(stage: ClientStage, decimals: int = 1) -> str:
    return f"{stage.difficulty.target:.{decimals}f}"


def _told(words: Callable[[ClientStage, int], str], old: ClientStage, new: ClientStage) -> list[str]:
    """Both Stages in words, with one decimal; with all three of a pack where one would hide the difference."""
    short, exact = ([words(stage, decimals) for stage in (old, new)] for decimals in (1, 3))
    return short if short[0] != short[1] else exact


def _longest_rise(numbers: Sequence[int]) -> list[int]:
    """The positions of a longest rising subsequence of different numbers, last first (patience sorting)."""
    tails: list[int] = []  # the smallest number that ends a rise of each length,
    ends: list[int] = []  # its position,
    before: list[int] = []  # and, for each position, the one before it in its rise
    for position, number in enumerate(numbers):
        length = bisect_left(tails, number)
        tails[length : length + 1] = [number]
        ends[length : length + 1] = [position]
        before.append(ends[length - 1] if length else -1)
    found: list[int] = []
    position = ends[-1] if ends else -1
    while position >= 0:
        found.append(position)
        position = before[position]
    return found


def _stages(old: AnyPack, new: AnyPack) -> Iterator[Change]:
    """Stages that have the same puzzle and something else about them."""
    before, after = _uses(old), _uses(new)
    for puzzle, use in after.items():
        if puzzle not in before:
            continue
        was, is_ = before[puzzle].stage, use.stage
        if was.adds != is_.adds:
            yield Change(Kind.allowance, is_.id, puzzle, "", *_told(_words, was, is_))
        if isinstance(was, Stage) and isinstance(is_, Stage) and was.solution != is_.solution:
            yield Change(Kind.solution, is_.id, puzzle, "", " ".join(was.solution), " ".join(is_.solution))


def _targets(old: AnyPack, new: AnyPack) -> Iterator[Change]:
    """Stages that aim at another difficulty, whichever puzzles they hold."""
    for was, is_ in _at_both(old, new):
        if was.difficulty.target != is_.difficulty.target:
            yield Change(Kind.target, is_.id, "", "", *_told(_target, was, is_))


def _shifts(old: AnyPack, new: AnyPack) -> Iterator[Change]:
    """Difficulties that changed beyond noise at an unchanged allowance; without counts, every change of the score."""
    before, after = _uses(old), _uses(new)
    tests: list[tuple[_Use, str, int, Counts]] = []
    for puzzle, use in after.items():
        was, is_ = before[puzzle].stage if puzzle in before else None, use.stage
        if was is None or was.adds != is_.adds:
            continue
        if isinstance(was, Stage) and isinstance(is_, Stage):
            for name in was.difficulty.players.keys() & is_.difficulty.players.keys():
                sides = was.difficulty.players[name], is_.difficulty.players[name]
                if all(len(side.passed) > is_.adds and side.passed[is_.adds] <= side.playouts for side in sides):
                    passed = sides[0].passed[is_.adds], sides[1].passed[is_.adds]
                    tests.append((use, name, is_.adds, Counts(passed, (sides[0].playouts, sides[1].playouts))))
        elif was.difficulty.score != is_.difficulty.score:
            yield Change(Kind.difficulty, is_.id, puzzle, "", *_told(_words, was, is_))
    for number, _ in sorted(beyond_noise([counts for *_, counts in tests])):
        use, name, adds, counts = tests[number]
        rates = [f"{rate:.1%}" for rate in counts.rates]
        what = f"{name} passes with {counted(adds, 'Add')}"
        yield Change(Kind.difficulty, use.stage.id, use.stage.puzzle, what, *rates)


def _header(old: AnyPack, new: AnyPack) -> Iterator[Change]:
    """Everything of the pack as a whole, and of its Levels, that no other change tells."""
    own = {"content_hash", "source_hash", "ruleset", "withdrawn", "puzzles", "levels"}
    before, after = ({key: value for key, value in document_of(pack).items() if key not in own} for pack in (old, new))
    called, calls = ({level.id: level.title for level in pack.levels} for pack in (old, new))
    for path, *both in (*differences(before, after), *differences(called, calls, "levels")):
        was, is_ = ("nothing" if value is None else shown(value, 80) for value in both)
        yield Change(Kind.header, "", "", path, was, is_)


def differences(old: object, new: object, path: str = "") -> Iterator[tuple[str, object, object]]:
    """Where two JSON values differ: the place, and both values there (None where nothing is)."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, f"{path}[{number}]")
    elif old != new:
        yield path, old, new


# ------------------------------------------------------------------------------------------------------------- writing

TITLES = {
    Kind.id_changed: "IDS THAT CHANGED THEIR MEANING",
    Kind.withdrawn_back: "WITHDRAWN IDS THAT CAME BACK",
    Kind.ruleset: "Ruleset",
    Kind.replaced: "Puzzles replaced by new ones",
    Kind.removed: "Puzzles that left and were not replaced",
    Kind.added: "Puzzles that came and replace none",
    Kind.moved: "Puzzles that moved",
    Kind.allowance: "Allowances",
    Kind.difficulty: "Difficulty shifted beyond noise",
    Kind.bounds: "min Adds and par",
    Kind.solution: "Solutions",
    Kind.target: "Targets",
    Kind.withdrawn: "Withdrawn",
    Kind.header: "Everything else",
}


def _summary(old: AnyPack, new: AnyPack, changes: Sequence[Change]) -> str:
    """One paragraph for a pull request."""
    if not changes:
        return f"{new.pack_id} version {new.pack_version}: no difference."
    counts = {kind: len({(one.stage, one.puzzle) for one in changes if one.kind is kind}) for kind in Kind}
    stages = [sum(len(level.stages) for level in pack.levels) for pack in (old, new)]
    size = counted(stages[1], "Stage")
    size = size if stages[0] == stages[1] else f"{stages[0]} → {size}"
    versions = "version " + " → ".join(map(str, dict.fromkeys((old.pack_version, new.pack_version))))
    of_stages = {
        "with another puzzle": sum(was.puzzle != is_.puzzle for was, is_ in _at_both(old, new)),
        "with another target": counts[Kind.target],
    }
    of_puzzles = {
        "left": counts[Kind.removed] + counts[Kind.replaced],
        "came": counts[Kind.added] + counts[Kind.replaced],
        "moved": counts[Kind.moved],
        "with another allowance": counts[Kind.allowance],
        "whose difficulty shifted beyond noise": counts[Kind.difficulty],
        "with other bounds": counts[Kind.bounds],
        "with another solution": counts[Kind.solution],
    }
    parts = [f"{number:,} {words}" for words, number in of_stages.items() if number]
    parts += [f"{counted(number, 'puzzle')} {words}" for words, number in of_puzzles.items() if number]
    loud = []
    if changed := counts[Kind.id_changed]:
        loud.append(f"{counted(changed, 'id')} changed {'its' if changed == 1 else 'their'} meaning")
    if back := counts[Kind.withdrawn_back]:
        loud.append(f"{counted(back, 'withdrawn id')} came back")
    text = f"{new.pack_id} {versions}, {size}: {', '.join(parts) or 'no Stage changed'}."
    if loud:
        text = f"ATTENTION: {' and '.join(loud)}. {text}"
    if counts[Kind.ruleset]:
        text += " The ruleset changed."
    if isinstance(old, Pack) and isinstance(new, Pack):
        was, is_ = old.generator, new.generator
        if (was.name, was.version) != (is_.name, is_.version):
            text += f" Made by {is_.name} {is_.version}, before by {was.name} {was.version}."
        if was.config_hash != is_.config_hash:
            text += " Made from another config."
    return printable(text)


def written(difference: Difference, form: DiffFormat) -> Iterator[str]:
    """A difference as lines of a format."""
    if form is DiffFormat.json:
        record = {
            "same": not difference.changes,
            "summary": difference.summary,
            "changes": [asdict(change) | {"loud": change.kind in LOUD} for change in difference.changes],
        }
        yield json.dumps(record, ensure_ascii=False)
        return
    yield difference.summary
    for kind in Kind:
        changes = difference.of(kind)
        if not changes:
            continue
        yield ""
        if form is DiffFormat.text:
            yield f"{TITLES[kind]} ({len(changes)})"
            yield from (f"  {change}" for change in changes)
        else:
            yield f"### {TITLES[kind]} ({len(changes)})"
            yield ""
            yield from _table(changes)


def _table(changes: Sequence[Change]) -> Iterator[str]:
    """A Markdown table, without the columns in which nothing stands."""
    names = {"stage": "Stage", "subject": "puzzle", "what": "key", "old": "before", "new": "after"}
    rows = [{key: getattr(change, key) for key in names} for change in changes]
    used = [key for key in names if any(row[key] for row in rows)]
    for cells in ([names[key] for key in used], ["---"] * len(used)):
        yield f"| {' | '.join(cells)} |"
    for row in rows:
        yield f"| {' | '.join(_cell(row[key]) for key in used)} |"


def _cell(text: str) -> str:
    """Text in a Markdown table, in which nothing of it can be markup."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>|#!~" else char for char in printable(text))
