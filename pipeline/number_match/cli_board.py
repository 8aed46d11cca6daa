"""The commands about boards. Thin: each calls one plain function and prints what it returns.

Everything heavy is imported inside the commands, so that `--help` is quick.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from number_match.cli_shared import JsonOption, Quiet, RulesetOption, interruptible, sayer
from number_match.errors import UserError
from number_match.words import counted, interval

if TYPE_CHECKING:
    from number_match.boards import Given
    from number_match.rules import Board, Ruleset
    from number_match.simulate import PlayoutFigures
    from number_match.solve import SolveResult
    from number_match.structure import Structure

app = typer.Typer()
PANEL = "Boards"

BoardArgument = Annotated[
    str | None, typer.Argument(metavar="BOARD", help='For example "316372222/5516 +2".', show_default=False)
]
FileOption = Annotated[
    str | None, typer.Option("--file", help="A file with one board a line; - is stdin.", show_default=False)
]
AddsOption = Annotated[
    int | None, typer.Option(min=0, max=9999, help="The Adds allowed, unless the board says so.", show_default=False)
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Threads that share the boards; default: one a core.", show_default=False)
]


class Goal(StrEnum):
    """What a solution should have few of."""

    adds = "adds"
    actions = "actions"


@app.command(rich_help_panel=PANEL)
@interruptible()
def solve(
    board: BoardArgument = None,
    file: FileOption = None,
    adds: AddsOption = None,
    node_budget: Annotated[
        int, typer.Option(min=1, max=10**12, help="The nodes after which the answer is `undecided`.")
    ] = 10**6,
    memory_mib: Annotated[int, typer.Option(min=1, max=2**20, help="Memory for tables, a worker, in MiB.")] = 1024,
    minimise: Annotated[Goal, typer.Option(help="Adds and then pairs, or pairs and Adds together.")] = Goal.adds,
    with_structure: Annotated[
        bool, typer.Option("--structure", help="Also how narrow the way is, by what links.")
    ] = False,
    ruleset: RulesetOption = "veyra-1",
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Find out whether boards can be cleared, with how few Adds and pairs, and how.

    A board without +N or --adds allows no Add: `unclearable` then means that it cannot be cleared by pairs alone.
    """
    from number_match.boards import given_boards, parse_ruleset

    boards = given_boards(board, file, parse_ruleset(ruleset), adds)
    _prepare("adds", quiet)
    from number_match.solve import solve as solve_board
    from number_match.structure import structure

    def work(given: "Given") -> "tuple[SolveResult, Structure | None]":
        try:
            result = solve_board(given.board, node_budget=node_budget, memory_mib=memory_mib, minimise=minimise.value)
        except ValueError as error:
            raise UserError(f"{given.place or 'board'}: {error}") from None
        return result, structure(result, memory_mib=memory_mib) if with_structure else None

    for given, (result, found) in _each(work, boards, workers, quiet):
        if as_json:
            shape = {"structure": None if found is None else asdict(found)} if with_structure else {}
            _print_json(_solve_record(result) | shape)
        elif file is None:
            _print_solution(result)
            if found is not None:
                _print_structure(found)
        else:
            min_adds, par = interval(result.min_adds.lower, result.min_adds.upper), _par(result)
            print(f"{result.verdict:<11} min Adds {min_adds:<6} par {par:<8} nodes {result.nodes:<9} {given.board}")


def _solve_record(result: "SolveResult") -> dict[str, Any]:
    def bounds(both: Any) -> dict[str, int | None] | None:
        return None if both is None else {"lower": both.lower, "upper": both.upper}

    record = {
        "board": result.board.text,
        "adds": result.board.adds,
        "verdict": result.verdict,
        "min_adds": bounds(result.min_adds),
        "par": bounds(result.par),
        "solution": None if result.solution is None else list(result.solution),
        "nodes": result.nodes,
    }
    return record if result.actions is None else record | {"actions": bounds(result.actions)}


def _print_solution(result: "SolveResult") -> None:
    print(f"board     {result.board}")
    print(f"verdict   {result.verdict}")
    print(f"min Adds  {interval(result.min_adds.lower, result.min_adds.upper)}")
    print(f"par       {_par(result)}")
    if result.actions is not None:
        print(f"actions   {interval(result.actions.lower, result.actions.upper)}")
    if result.solution is not None:
        print(f"solution  {' '.join(result.solution)}")
    print(f"nodes     {result.nodes}")


def _print_structure(found: "Structure") -> None:
    def told(value: object) -> object:
        return "undecided" if value is None else value

    early = {True: "yes", False: "no", None: "undecided"}[found.needs_early_add]
    print(f"early Add {early}")
    print(f"openings  {told(found.good_openings)} of {found.openings} pairs keep min Adds")
    print(f"forced    {told(found.forced)} points of the solution")
    print(f"links     {', '.join(f'{count} {link}' for link, count in found.links.items())}")


def _par(result: "SolveResult") -> str:
    return "-" if result.par is None else interval(result.par.lower, result.par.upper)


@app.command(rich_help_panel=PANEL)
@interruptible()
def simulate(
    board: BoardArgument = None,
    file: FileOption = None,
    player: Annotated[str, typer.Option(help="A player of the default panel.")] = "casual",
    playouts: Annotated[int, typer.Option(min=1, max=10**9, help="How many games are played.")] = 10_000,
    adds: AddsOption = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="The seed of all choices.")] = 1,
    ruleset: RulesetOption = "veyra-1",
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Threads that share the playouts; default: one a core.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Let a simulated player try boards, and count how often each allowance is enough."""
    from number_match.boards import given_boards, parse_ruleset
    from number_match.players import default_panel

    boards = given_boards(board, file, parse_ruleset(ruleset), adds)
    panel = default_panel()
    if player not in panel:
        raise UserError(f"--player: {player!r} is not in the default panel ({', '.join(panel)})")
    _prepare("playouts", quiet)
    from number_match.simulate import simulate as play
    from number_match.simulate import wilson

    def work(given: "Given", numbers: range) -> "PlayoutFigures":
        board = given.board
        try:
            return play(board, panel[player], name=player, max_adds=board.adds, playouts=numbers, seed=seed)
        except UserError as error:
            raise UserError(f"{given.place or 'board'}: {error}") from None

    for given, figures in _played(work, boards, playouts, workers, quiet):
        intervals = [wilson(passed, playouts) for passed in figures.passed]
        if as_json:
            _print_json(
                {
                    "board": given.board.text,
                    "player": player,
                    "playouts": playouts,
                    "seed": seed,
                    "passed": list(figures.passed),
                    "pass_rate": [round(passed / playouts, 4) for passed in figures.passed],
                    "low": [round(low, 4) for low, _ in intervals],
                    "high": [round(high, 4) for _, high in intervals],
                }
            )
            continue
        print(f"board   {given.board}")
        print(f"player  {player}, {counted(playouts, 'playout')}, seed {seed}")
        for allowance, (passed, (low, high)) in enumerate(zip(figures.passed, intervals, strict=True)):
            print(f"+{allowance:<4} {passed / playouts:7.1%}   (95%: {low:.1%} to {high:.1%})")


@app.command(rich_help_panel=PANEL)
def show(
    board: Annotated[str, typer.Argument(metavar="BOARD|PACK", help="A board, or a pack file.", show_default=False)],
    stage: Annotated[str | None, typer.Argument(metavar="STAGE", help="A Stage's id.", show_default=False)] = None,
    play: Annotated[str, typer.Option(help='Actions to take first, such as "0-9 + 3-4".', show_default=False)] = "",
    adds: AddsOption = None,
    ruleset: RulesetOption = "veyra-1",
    as_json: JsonOption = False,
) -> None:
    """Draw a board with its pairs, or the board of a Stage of a pack."""
    from number_match.boards import given_boards, parse_ruleset
    from number_match.rules import IllegalAction, NotationError, replay

    if stage is None:
        if os.path.isfile(board):
            raise UserError(f"{board}: this is a file; to show a board of a pack, name a Stage of it, such as L001-S01")
        position = given_boards(board, None, parse_ruleset(ruleset), adds)[0].board
    else:
        position = _stage_board(board, stage)
    try:
        position = replay(position, play.replace(",", " ").split())
    except (IllegalAction, NotationError) as error:
        raise UserError(f"--play: {error}") from None
    if as_json:
        _print_json(
            {
                "board": position.text,
                "adds": position.adds,
                "pairs": [f"{i}-{j}" for i, j in position.pairs()],
                "cleared": position.cleared,
                "stuck": position.stuck,
            }
        )
        return
    _print_board(position)


def _stage_board(pack_path: str, stage_id: str) -> "Board":
    from number_match.models import read_any
    from number_match.rules import Board, NotationError

    pack = read_any(pack_path)
    boards = {puzzle.id: puzzle.board for puzzle in pack.puzzles}
    for level in pack.levels:
        for stage in level.stages:
            if stage.id == stage_id and stage.puzzle in boards:
                try:
                    return Board.parse(boards[stage.puzzle], pack.ruleset.rules()).with_adds(stage.adds)
                except NotationError as error:
                    raise UserError(f"{pack_path}: {stage_id}: {error}") from None
    first, last = pack.levels[0].stages[0].id, pack.levels[-1].stages[-1].id
    raise UserError(f"{pack_path}: there is no Stage {stage_id!r} in it; expected one of {first} … {last}")


def _print_board(position: "Board") -> None:
    from number_match.drawing import draw

    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(draw(position, colour=colour, ascii_only=ascii_only))
    print()
    print(position)
    pairs = position.pairs()
    state = "cleared" if position.cleared else "stuck" if position.stuck else counted(len(pairs), "pair")
    print(f"{counted(position.active, 'active cell')}, {counted(position.adds, 'Add')} left, {state}")
    for i, j in pairs:
        digits = f"{position.cells[i]} {position.cells[j]}"
        print(f"  {f'{i}-{j}':<9} {digits}   {', '.join(position.links(i, j))}")


@app.command(rich_help_panel=PANEL)
@interruptible()
def perft(
    board: BoardArgument = None,
    file: FileOption = None,
    depth: Annotated[int | None, typer.Option(min=0, max=99, help="Actions in a sequence.", show_default=False)] = None,
    adds: AddsOption = None,
    ruleset: Annotated[
        str | None,
        typer.Option(help="An id or settings; default: what the file is named after, or veyra-1.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Count the sequences of exactly so many actions, with a checksum; or check a file of such counts."""
    from number_match.boards import either, given_boards, parse_ruleset, text_lines
    from number_match.perft import is_perft_file, ruleset_of

    either(board, file)
    rules = ruleset_of(file or "") if ruleset is None else parse_ruleset(ruleset)
    lines = [] if file is None else list(text_lines(file))
    if is_perft_file(lines):
        if depth is not None or adds is not None:
            raise UserError(f"{file}: a perft file has its own depths and Adds; give no --depth or --adds beside it")
        _check_perft(lines, rules, as_json, quiet)
        return
    if depth is None:
        raise UserError("--depth is needed: the number of actions in a sequence")
    boards = given_boards(board, file, rules, adds)
    _prepare("board", quiet)
    from number_match.perft import count

    for given, (sequences, checksum) in _each(lambda given: count(given.board, depth), boards, 1, quiet):
        if as_json:
            _print_json(
                {
                    "board": given.board.text,
                    "adds": given.board.adds,
                    "depth": depth,
                    "count": sequences,
                    "checksum": f"{checksum:016x}",
                }
            )
        else:
            if file is not None:
                print(f"board {given.board}")
            print(f"perft {depth} {sequences} {checksum:016x}")


def _check_perft(lines: list[tuple[str, str]], rules: "Ruleset", as_json: bool, quiet: bool) -> None:
    """Count every row of a perft file again; exit 1 when one differs."""
    from number_match.perft import count, read_rows

    rows = read_rows(lines, rules)
    _prepare("board", quiet)
    wrong = 0
    for row, found in _each(lambda row: count(row.board, row.depth), rows, 1, quiet, unit=" rows"):
        good = found == (row.count, row.checksum)
        wrong += not good
        if as_json:
            _print_json(
                {
                    "id": row.id,
                    "board": row.board.text,
                    "adds": row.board.adds,
                    "depth": row.depth,
                    "count": found[0],
                    "checksum": f"{found[1]:016x}",
                    "ok": good,
                }
            )
        elif not good:
            print(
                f"{row.place}: {row.id}: perft {row.depth} is {found[0]} {found[1]:016x}, "
                f"expected {row.count} {row.checksum:016x}; board {row.board}"
            )
    if not as_json:
        agree = "agrees" if len(rows) == 1 else "agree"
        print(f"{len(rows) - wrong} of {counted(len(rows), 'row')} {agree}, under {rules.id}")
    if wrong:
        raise typer.Exit(1)


# -------------------------------------------------------------------------------------------------------- shared parts

Item = TypeVar("Item")
Result = TypeVar("Result")


def _each(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int | None, quiet: bool, unit: str = " boards"
) -> Iterator[tuple[Item, Result]]:
    """Every board (or row of a file) with its result, in order, under a progress bar when there are many."""
    from tqdm import tqdm

    from number_match.threads import in_order

    hidden = True if quiet or len(items) == 1 else None  # None: hidden when stderr is no terminal
    return iter(tqdm(in_order(work, items, workers), total=len(items), unit=unit, disable=hidden))


def _played(
    work: "Callable[[Given, range], PlayoutFigures]",
    boards: "Sequence[Given]",
    playouts: int,
    workers: int | None,
    quiet: bool,
) -> "Iterator[tuple[Given, PlayoutFigures]]":
    """Every board with the figures of all its playouts, played in batches, in order, under a progress bar."""
    from tqdm import tqdm

    from number_match.simulate import CHUNK, PlayoutFigures
    from number_match.threads import in_order

    firsts = range(0, playouts, CHUNK)
    batches = ((given, range(first, min(first + CHUNK, playouts))) for given in boards for first in firsts)
    played = in_order(lambda batch: work(*batch), batches, workers)
    total, hidden = len(boards) * playouts, True if quiet else None  # None: hidden when stderr is no terminal
    with tqdm(total=total, unit=" playouts", unit_scale=True, disable=hidden, leave=False) as bar:

        def told(figures: PlayoutFigures) -> PlayoutFigures:
            bar.update(figures.playouts)
            return figures

        for given in boards:
            parts = (told(figures) for _, (_, figures) in zip(firsts, played, strict=False))
            figures = reduce(PlayoutFigures.merge, parts)
            with tqdm.external_write_mode():  # the bar makes way for what is printed
                yield given, figures


def _prepare(kernels: str, quiet: bool) -> None:
    """Load the compiled kernels, saying so when they have to be compiled first."""
    from number_match.kernels import prepare

    prepare([kernels], sayer(quiet))


def _print_json(record: dict[str, Any]) -> None:
    print(json.dumps(record, ensure_ascii=False))
