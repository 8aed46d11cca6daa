"""The work done again: a pack comes in, what the solver and the panel have against it goes out.

Every puzzle is solved without a look at the stored solution, and every playout that the counts stand for is played.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from number_match.errors import UserError
from number_match.findings import Finding, Place
from number_match.models import SAFE_INTEGER, ClientStage, Interval, Pack, Puzzle, Stage
from number_match.rules import Board, replay
from number_match.shifts import FAMILY_ALPHA, Counts, beyond_noise, visible
from number_match.threads import in_order
from number_match.verify_quick import Case
from number_match.words import counted, interval

if TYPE_CHECKING:
    from number_match.players import Player
    from number_match.solve import Bounds

Progress = Callable[[int, int], None]
"""Called with (done, all) Stages while the work goes on."""

MEMORY_MIB = 1024
"""Memory for the solver's tables where a pack does not say how much its bounds were found with."""
MOST_MEMORY_MIB = 2**20
"""As much as a config may give; a pack that says more is not believed."""


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Playouts passed at a Stage's allowance, as the pack says and played afresh."""

    place: Place
    player: str
    adds: int
    counts: Counts


def again(
    pack: Pack,
    name: str,
    *,
    stages: Container[str] | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[list[Finding], list[str]]:
    """Solve and play every Stage again (or those whose ids are in `stages`), and give findings and remarks.

    Under the same behaviour versions everything must come out the same. Under another solver, bounds may be tighter but
    never disjoint; under other players, pass rates are compared by two-proportion tests (see `_shifted`).
    """
    from number_match.simulate import SCORING_BEHAVIOUR
    from number_match.solve import SOLVER_BEHAVIOUR

    case = Case(pack, Place(name))
    remarks = []
    same_solver, same_players = pack.solver.behaviour == SOLVER_BEHAVIOUR, pack.scoring.behaviour == SCORING_BEHAVIOUR
    if not same_solver:
        remarks.append(
            f"solver behaviour {pack.solver.behaviour} made the pack and {SOLVER_BEHAVIOUR} checked it: "
            "bounds must overlap, and need not be equal"
        )
    panel, findings = _panel(case, pack)
    todo = [
        (place, stage)
        for place, stage in case.stages()
        if stage.puzzle in case.boards and (stages is None or stage.id in stages)
    ]

    def work(item: tuple[Place, ClientStage]) -> tuple[list[Finding], list[_Comparison]]:
        place, stage = item
        assert isinstance(stage, Stage)
        board, puzzle = case.boards[stage.puzzle], case.puzzles[stage.puzzle]
        found = list(_solved_again(place, stage, puzzle, board, pack, same_solver))
        comparisons = []
        for player in stage.difficulty.players:
            if player in panel:
                result = _played_again(place, stage, player, panel[player], board, pack, same_players)
                if isinstance(result, _Comparison):
                    comparisons.append(result)
                else:
                    found += result
        return found, comparisons

    comparisons: list[_Comparison] = []
    for done, (_, (found, compared)) in enumerate(in_order(work, todo, workers), 1):
        findings += found
        comparisons += compared
        if progress is not None:
            progress(done, len(todo))
    if not same_players:
        remarks.append(_power(pack.scoring.behaviour, SCORING_BEHAVIOUR, comparisons))
        findings += _shifted(comparisons)
    return findings, remarks


def _panel(case: Case, pack: Pack) -> tuple[dict[str, "Player"], list[Finding]]:
    """The players of the pack, and a finding for each that this program cannot play."""
    from pydantic import ValidationError

    from number_match.complaints import complaints
    from number_match.players import Player

    panel, findings = {}, []
    for name, parameters in pack.scoring.players.items():
        try:
            panel[name] = Player.model_validate(parameters)
        except ValidationError as error:
            what = f"{name}.{complaints(error, Player)[0].text}"
            findings.append(case.place.finding("panel", what, "a player that this program can play"))
    return panel, findings


def _solved_again(
    place: Place, stage: Stage, puzzle: Puzzle, board: Board, pack: Pack, same: bool
) -> Iterator[Finding]:
    from number_match.solve import solve

    largest = max((len(counts.passed) for counts in stage.difficulty.players.values()), default=1) - 1
    allowed = board.with_adds(max(largest, stage.adds))
    memory_mib = min(pack.solver.memory_mib or MEMORY_MIB, MOST_MEMORY_MIB)
    try:
        result = solve(allowed, node_budget=pack.solver.node_budget, memory_mib=memory_mib)
        if result.solution is not None and not replay(allowed, result.solution).cleared:
            yield place.finding("solver", "a solution that leaves cells", "a solution that clears the board")
            return
    except (UserError, ValueError) as error:
        yield place.finding("solver", str(error), "a board that can be solved")
        return
    bounds = {"min Adds": (puzzle.min_adds, result.min_adds), "par": (puzzle.par, result.par)}
    if result.verdict == "unclearable":
        yield place.finding(
            "solver", f"min Adds {puzzle.min_adds.upper}", f"unclearable with {counted(allowed.adds, 'Add')}"
        )
        return
    for what, (said, proved) in bounds.items():
        if said is None or proved is None:
            if same and (said is None) != (proved is None):
                yield place.finding("solver", f"{what} {_interval(said)}", _interval(proved))
            continue
        upper = SAFE_INTEGER if proved.upper is None else proved.upper
        if (
            said.lower > upper
            or said.upper < proved.lower
            or (same and (said.lower, said.upper) != (proved.lower, upper))
        ):
            yield place.finding("solver", f"{what} {_interval(said)}", _interval(proved))
        elif said.lower < proved.lower or said.upper > upper:
            yield place.finding(
                "solver", f"{what} {_interval(said)}", f"{_interval(proved)}, which is tighter", note=True
            )


def _interval(bounds: "Interval | Bounds | None") -> str:
    return "undecided" if bounds is None else interval(bounds.lower, bounds.upper)


def _played_again(
    place: Place, stage: Stage, name: str, player: "Player", board: Board, pack: Pack, same: bool
) -> "_Comparison | list[Finding]":
    """The `report` playouts once more: the same ones when the players behave as they did, fresh ones otherwise."""
    from number_match.simulate import simulate

    counts = stage.difficulty.players[name]
    seed = _seed(pack.scoring.seed) if same else int(pack.content_hash[-13:], 16)  # 52 bits that stay the same
    playouts, max_adds = range(counts.playouts), len(counts.passed) - 1
    try:
        figures = simulate(board, player, name=name, max_adds=max_adds, playouts=playouts, seed=seed, stream="report")
    except (UserError, ValueError) as error:
        return [place.finding("playouts", str(error), "a board that can be played")]
    if not same:
        adds = min(stage.adds, max_adds)
        if counts.passed[adds] > counts.playouts:
            return []  # nothing to compare; the quick level names it
        both = Counts((counts.passed[adds], figures.passed[adds]), (counts.playouts, figures.playouts))
        return _Comparison(place, name, adds, both)
    if figures.passed != counts.passed:
        return [place.finding("playouts", f"{name} passed {list(counts.passed)}", list(figures.passed))]
    return []


def _seed(seed: int | str) -> int:
    return int(seed, 16) if isinstance(seed, str) else seed


def _shifted(comparisons: Sequence[_Comparison]) -> Iterator[Finding]:
    """The Stages and players whose pass rate changed beyond noise.

    The fresh playouts depend on the pack alone, so that what was found is found again.
    """
    for number, chance in beyond_noise([of.counts for of in comparisons]):
        of = comparisons[number]
        said, fresh = of.counts.rates
        found = f"{of.player} passes {said:.1%} with {counted(of.adds, 'Add')}"
        yield of.place.finding("pass-rate", found, f"{fresh:.1%}, as fresh playouts have it (p = {chance:.1e})")


def _power(said: int, now: int, comparisons: Sequence[_Comparison]) -> str:
    """What the comparison of pass rates can see."""
    about = f"scoring behaviour {said} made the pack and {now} checked it"
    if not comparisons:
        return f"{about}: no Stage could be compared"
    points = visible(len(comparisons), min(of.counts.playouts[1] for of in comparisons))
    return (
        f"{about}: {counted(len(comparisons), 'pass rate')} compared with fresh playouts "
        f"(family alpha {FAMILY_ALPHA}); a shift of {points:.1f} points is found with 95% power"
    )
