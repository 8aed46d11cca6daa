"""What the plain rules and arithmetic have against a pack: a pack comes in, findings go out.

Every check is a generator of findings and never stops at the first one. Nothing here trusts the program that made the
pack: solutions are replayed by `rules.py`, ids and figures are derived anew.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from number_match import difficulty
from number_match.findings import Finding, Place
from number_match.identity import canonical_id, puzzle_id
from number_match.models import ClientPack, ClientStage, Pack, Puzzle, Stage, content_hash, document_of
from number_match.rules import ADD, RULESETS, Board, IllegalAction, NotationError, class_counts
from number_match.words import counted, interval


@dataclass(frozen=True)
class Case:
    """A pack under examination, with what several checks look up."""

    pack: Pack | ClientPack
    place: Place

    @cached_property
    def boards(self) -> dict[str, Board]:
        """The legal boards by puzzle id."""
        rules = self.pack.ruleset.rules()
        found = {}
        for puzzle in self.pack.puzzles:
            try:
                board = Board.parse(puzzle.board, rules)
            except NotationError:
                continue
            if not board.cleared:
                found[puzzle.id] = board
        return found

    @cached_property
    def puzzles(self) -> dict[str, Puzzle]:
        return {puzzle.id: puzzle for puzzle in self.pack.puzzles}

    def stages(self) -> Iterator[tuple[Place, ClientStage]]:
        """Every Stage with its place, in order."""
        for level in self.pack.levels:
            for stage in level.stages:
                yield self.place.at(level=level.id, stage=stage.id, puzzle=stage.puzzle), stage


def quick(pack: Pack | ClientPack, name: str) -> Iterator[Finding]:
    """Everything that the plain rules and arithmetic have against a pack, or against a client file."""
    case = Case(pack, Place(name))
    yield from _whole(case)
    for puzzle in pack.puzzles:
        yield from _puzzle(case, puzzle)
    yield from _uniqueness(case)
    yield from _order(case)
    for place, stage in case.stages():
        yield from _stage(case, place, stage)
    if isinstance(pack, Pack):
        yield from _scales(case, pack)
        yield from _slots(case, pack)


def _whole(case: Case) -> Iterator[Finding]:
    pack = case.pack
    right = content_hash(document_of(pack))
    if pack.content_hash != right:
        yield case.place.finding("content-hash", pack.content_hash, right)
    known = RULESETS.get(pack.ruleset.id)
    if known is not None and known != pack.ruleset.rules():
        yield case.place.finding("ruleset-name", f"{known.id} with {pack.ruleset.rules().settings}", known.settings)


def _puzzle(case: Case, puzzle: Puzzle) -> Iterator[Finding]:
    place = case.place.at(puzzle=puzzle.id)
    try:
        board = Board.parse(puzzle.board, case.pack.ruleset.rules())
    except NotationError as error:
        yield place.finding("board", puzzle.board, str(error))
        return
    if board.cleared or board.text != puzzle.board:
        yield place.finding("board", puzzle.board, "a board with a digit" if board.cleared else board.text)
        return
    if puzzle.id != puzzle_id(board):
        yield place.finding("puzzle-id", puzzle.id, puzzle_id(board))
    if puzzle.canonical != canonical_id(board):
        yield place.finding("canonical", puzzle.canonical, canonical_id(board))
    yield from _bounds(place, puzzle, board)


def _bounds(place: Place, puzzle: Puzzle, board: Board) -> Iterator[Finding]:
    """min Adds and par by themselves and by parity.

    A pair removes two cells of one class. Without an Add every class must be even, and all pairs together are half the
    cells. An Add doubles each class, and when the first is made a class with an odd count still has a cell: so a clear
    with Adds removes at least one cell more for every odd class. No Add more than doubles what there is.
    """
    low, high = puzzle.min_adds.lower, puzzle.min_adds.upper
    if low > high:
        yield place.finding("min-adds", interval(low, high), "a lower bound that is not above the upper one")
    odd = sum(count % 2 for count in class_counts(board))
    if odd and low == 0:
        yield place.finding(
            "min-adds", f"a lower bound of 0 with {counted(odd, 'odd class count')}", "1 or more, by parity"
        )
    par = puzzle.par
    if (par is None) != (low != high):
        expected = "no par while min Adds is undecided" if par else "a par, since min Adds is decided"
        yield place.finding("par", None if par is None else interval(par.lower, par.upper), expected)
    if par is None:
        return
    if par.lower > par.upper:
        yield place.finding("par", interval(par.lower, par.upper), "a lower bound that is not above the upper one")
    least = (board.active + (odd if high else 0) + 1) // 2
    most = board.active << min(high, 30) >> 1
    if par.lower < least or par.upper > most:
        yield place.finding(
            "par", interval(par.lower, par.upper), f"{least} to {most}, by parity and {counted(high, 'Add')}"
        )


def _uniqueness(case: Case) -> Iterator[Finding]:
    pack = case.pack
    for puzzle, times in Counter(puzzle.id for puzzle in pack.puzzles).items():
        if times > 1:
            yield case.place.at(puzzle=puzzle).finding("unique-id", f"{times} puzzles with this id", "one")
    twins: dict[str, list[str]] = {}
    for puzzle, board in case.boards.items():
        twins.setdefault(canonical_id(board), []).append(puzzle)
    for first, *others in twins.values():
        for other in others:
            yield case.place.at(puzzle=other).finding("duplicate", f"the same as {first}", "another puzzle")
    for puzzle in sorted(set(pack.withdrawn) & set(case.puzzles)):
        yield case.place.at(puzzle=puzzle).finding("withdrawn", "used in this pack", "not used, since it is withdrawn")
    for puzzle, times in Counter(pack.withdrawn).items():
        if times > 1:
            yield case.place.at(puzzle=puzzle).finding("unique-id", f"withdrawn {times} times", "once")
    for level, times in Counter(level.id for level in pack.levels).items():
        if times > 1:
            yield case.place.at(level=level).finding("level-id", f"{times} Levels with this id", "one")


def _order(case: Case) -> Iterator[Finding]:
    """Ids that name places, references, and puzzles in order of first use."""
    for level in case.pack.levels:
        for number, stage in enumerate(level.stages, 1):
            if stage.id != f"{level.id}-S{number:02}":
                place = case.place.at(level=level.id, stage=stage.id, puzzle=stage.puzzle)
                yield place.finding("stage-id", stage.id, f"{level.id}-S{number:02}")
    used: dict[str, str] = {}
    for place, stage in case.stages():
        if stage.puzzle not in case.puzzles:
            yield place.finding("puzzle-reference", stage.puzzle, "the id of a puzzle of this pack")
        elif stage.puzzle in used:
            yield place.finding("puzzle-used-once", f"used by {used[stage.puzzle]} too", "one Stage a puzzle")
        used.setdefault(stage.puzzle, stage.id)
    for puzzle in case.puzzles.keys() - used.keys():
        yield case.place.at(puzzle=puzzle).finding("puzzle-used-once", "used by no Stage", "one Stage a puzzle")
    stand = [puzzle for puzzle in case.puzzles if puzzle in used]
    wanted = [puzzle for puzzle in used if puzzle in case.puzzles]
    for number, (found, right) in enumerate(zip(stand, wanted, strict=True), 1):
        if found != right:
            yield case.place.at(puzzle=found).finding("puzzle-order", f"{found} as puzzle {number}", right)
            break


def _stage(case: Case, place: Place, stage: ClientStage) -> Iterator[Finding]:
    puzzle, board = case.puzzles.get(stage.puzzle), case.boards.get(stage.puzzle)
    if puzzle is not None and stage.adds < puzzle.min_adds.upper:
        yield place.finding(
            "allowance", counted(stage.adds, "Add"), f"at least {puzzle.min_adds.upper}, which are needed"
        )
    if not isinstance(stage, Stage):
        return
    if puzzle is not None and board is not None:
        yield from _solution(place, stage, puzzle, board)
    if isinstance(case.pack, Pack):
        yield from _figures(place, stage, puzzle, case.pack)


def _solution(place: Place, stage: Stage, puzzle: Puzzle, board: Board) -> Iterator[Finding]:
    """The solution replayed by the plain rules; it must attain the upper bounds of min Adds and par."""
    adds = stage.solution.count(ADD)
    pairs = len(stage.solution) - adds
    position = board.with_adds(stage.adds)
    for number, action in enumerate(stage.solution, 1):
        if position.active > 2 * (len(stage.solution) - number + 1):
            yield place.finding(
                "solution", f"{counted(position.active, 'cell')} left after action {number - 1}", "few enough to clear"
            )
            return
        try:
            position = position.play(action)
        except (IllegalAction, NotationError) as error:
            yield place.finding("solution", f"action {number}: {error}", "a legal action")
            return
    if not position.cleared:
        yield place.finding("solution", f"ends at {position}", "a cleared board")
        return
    if not puzzle.min_adds.lower <= adds == puzzle.min_adds.upper:
        bounds = interval(puzzle.min_adds.lower, puzzle.min_adds.upper)
        yield place.finding("min-adds", bounds, f"an upper bound of {adds}, the Adds that the solution makes")
    if puzzle.par is not None and not puzzle.par.lower <= pairs == puzzle.par.upper:
        bounds = interval(puzzle.par.lower, puzzle.par.upper)
        yield place.finding("par", bounds, f"an upper bound of {pairs}, the pairs that the solution removes")


def _figures(place: Place, stage: Stage, puzzle: Puzzle | None, pack: Pack) -> Iterator[Finding]:
    players = stage.difficulty.players
    if set(players) != set(pack.scoring.players):
        yield place.finding("panel", sorted(players), sorted(pack.scoring.players))
    lengths = {len(counts.passed) for counts in players.values()}
    if len(lengths) > 1:
        yield place.finding("panel", f"counts for {sorted(lengths)} allowances", "the same allowances for every player")
    measured = min(lengths, default=0) - 1
    if stage.adds > measured:
        yield place.finding(
            "allowance", counted(stage.adds, "Add"), f"at most {measured}, for which the panel was measured"
        )
    for name, counts in players.items():
        for adds, passed in enumerate(counts.passed):
            if passed > counts.playouts:
                yield place.finding(
                    "counts", f"{name} passed {passed} with {counted(adds, 'Add')}", f"at most {counts.playouts}"
                )
            if passed and puzzle is not None and adds < puzzle.min_adds.lower:
                expected = f"0, since {puzzle.min_adds.lower} are needed"
                yield place.finding("counts", f"{name} passed {passed} with {counted(adds, 'Add')}", expected)
    blend = pack.scoring.blend
    if stage.adds > measured or not set(blend) <= set(players):
        return
    if any(players[name].passed[stage.adds] > players[name].playouts for name in blend):
        return  # no score follows from that
    measured_of = {name: (players[name].passed, players[name].playouts) for name in blend}
    score = difficulty.score(measured_of, stage.adds, blend, pack.scoring.scale)
    if round(stage.difficulty.score * difficulty.THOUSAND) != score:
        yield place.finding("score", stage.difficulty.score, score / difficulty.THOUSAND)
    band = difficulty.band(score, [("", 0), *((band.name, band.from_) for band in pack.scoring.bands)])
    if stage.difficulty.band != band:
        yield place.finding("band", stage.difficulty.band, band)


def _scales(case: Case, pack: Pack) -> Iterator[Finding]:
    starts = [band.from_ for band in pack.scoring.bands]
    names = [band.name for band in pack.scoring.bands]
    if starts != sorted(set(starts)) or starts[0] != 0 or len(set(names)) < len(names):
        yield case.place.finding("bands", list(zip(names, starts, strict=True)), "each name once, rising from 0")
    unknown = sorted(set(pack.scoring.blend) - set(pack.scoring.players))
    if unknown:
        yield case.place.finding("panel", f"scores made of {', '.join(unknown)}", sorted(pack.scoring.players))


def _slots(case: Case, pack: Pack) -> Iterator[Finding]:
    """Whether the Stages are those that the assembly block asks for: how many, in which order, with which targets."""
    from number_match.asked import Disagrees, asked

    try:
        order = asked(pack)
    except Disagrees as disagreement:
        yield case.place.finding("assembly", disagreement.found, disagreement.expected)
        return
    if order is None:
        return
    fixed = order.fixed
    for (place, stage), slot in zip(list(case.stages())[order.first :], order.slots, strict=True):
        target = slot.target / difficulty.THOUSAND
        if (stage.id, stage.difficulty.target) != (slot.id, target):
            yield place.finding(
                "target", f"{stage.id} with target {stage.difficulty.target:g}", f"{slot.id} with {target:g}"
            )
        if not fixed and not slot.adds[0] <= stage.adds <= slot.adds[1]:
            yield place.finding(
                "allowance", counted(stage.adds, "Add"), f"{slot.adds[0]} to {slot.adds[1]}, as the assembly says"
            )
        puzzle = case.puzzles.get(stage.puzzle)
        if puzzle is None or fixed:
            continue
        if stage.adds < puzzle.min_adds.upper + slot.slack:
            expected = f"{slot.slack} more than the {puzzle.min_adds.upper} that are needed"
            yield place.finding("allowance", counted(stage.adds, "Add"), expected)
        pinned = stage.id in order.settings.pin
        if slot.families and puzzle.family not in slot.families and not pinned:
            yield place.finding("assembly", f"family {puzzle.family}", f"one of {', '.join(sorted(slot.families))}")
        if slot.max_par and puzzle.par and puzzle.par.upper > slot.max_par and not pinned:
            yield place.finding("assembly", f"par {puzzle.par.upper}", f"at most {slot.max_par}, as the assembly says")
