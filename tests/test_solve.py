"""The solver: what it proves against an exhaustive search, what it finds against the plain rules."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from golden import EVERY_LINK_SETTING, Position, position_rows, random_board, random_ruleset
from number_match.rules import Board, Ruleset, class_of, legal_actions, named, replay
from number_match.solve import BoardTooLarge, SolveResult, solve
from number_match.structure import structure
from plain_solver import exact


def checked(board: Board, **options: object) -> SolveResult:
    """Solve, and hold the answer to what every answer must keep."""
    result = solve(board, **options)  # type: ignore[arg-type]
    lower, upper = result.min_adds.lower, result.min_adds.upper
    assert (result.verdict == "clearable") == (upper is not None) == (result.solution is not None)
    if result.verdict == "unclearable":
        assert (lower, upper) == (board.adds + 1, None)
    if result.verdict == "undecided":
        assert lower <= board.adds
    assert (result.par is not None) == (upper == lower)
    if result.solution is not None:
        assert upper is not None
        assert lower <= upper <= board.adds
        assert replay(board, result.solution).cleared
        adds = result.solution.count("+")
        if options.get("minimise") == "actions":
            assert result.actions is not None
            assert len(result.solution) == result.actions.upper
            assert result.actions.lower <= len(result.solution)
        else:
            assert adds == upper
            if result.par is not None:
                assert result.par.lower <= len(result.solution) - adds == result.par.upper
    assert result.nodes <= options.get("node_budget", 1_000_000)  # type: ignore[operator]
    return result


def agrees(board: Board, **options: object) -> bool:
    """Whether every verdict and bound is true of the board; returns whether all was decided."""
    truth = exact(board)
    result = checked(board, **options)
    if result.verdict == "clearable":
        assert truth.min_adds is not None, board
        assert result.min_adds.lower <= truth.min_adds <= (result.min_adds.upper or 0), (board, truth, result)
    elif result.verdict == "unclearable":
        assert truth.min_adds is None, (board, truth, result)
    elif truth.min_adds is not None:
        assert result.min_adds.lower <= truth.min_adds, (board, truth, result)
    if result.par is not None:
        assert truth.par is not None
        assert result.par.upper is not None
        assert result.par.lower <= truth.par <= result.par.upper, (board, truth, result)
    if result.actions is not None:
        assert truth.actions is not None
        assert result.actions.upper is not None
        assert result.actions.lower <= truth.actions <= result.actions.upper, (board, truth, result)
    if result.needs_early_add is not None:
        assert truth.min_adds is not None
        assert result.needs_early_add == (exact(board, late=True).pairs[truth.min_adds] is None), (board, truth, result)
    decided = result.par is None or (result.par.decided and result.needs_early_add is not None)
    return result.verdict != "undecided" and decided


def small_boards(rng: random.Random, number: int, cells: int, adds: int) -> Iterator[Board]:
    for _ in range(number):
        ruleset = random_ruleset(rng, range(2, 10))
        board = random_board(rng, rng.randint(1, cells), ruleset, classes=rng.randint(2, 5))
        yield board.with_adds(rng.randint(0, adds))


# soundness


@pytest.mark.parametrize(("number", "cells", "adds"), [(2500, 10, 1), (1000, 5, 2)])
def test_verdicts_bounds_and_par_are_those_of_an_exhaustive_search(number: int, cells: int, adds: int) -> None:
    rng = random.Random(cells)
    decided = sum(agrees(board) for board in small_boards(rng, number, cells, adds))
    assert decided == number


@pytest.mark.soak
@pytest.mark.parametrize(("number", "cells", "adds"), [(20_000, 10, 1), (2000, 12, 1), (5000, 5, 2), (1500, 6, 2)])
def test_verdicts_bounds_and_par_are_those_of_an_exhaustive_search_at_length(
    number: int, cells: int, adds: int
) -> None:
    rng = random.Random(100 + cells)
    decided = sum(agrees(board) for board in small_boards(rng, number, cells, adds))
    assert decided == number


def test_the_searches_of_larger_boards_prove_only_what_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descents, and Adds on chosen cells with projections before them, on boards that are else gone through whole."""
    monkeypatch.setattr("number_match.solve.SMALL", 0)
    rng = random.Random(78)
    boards = [*small_boards(rng, 2000, 10, 1), *small_boards(rng, 500, 5, 2)]
    assert sum(agrees(board, node_budget=20_000) for board in boards) > 0.99 * len(boards)


def test_the_fewest_actions_are_those_of_an_exhaustive_search() -> None:
    rng = random.Random(77)
    boards = [*small_boards(rng, 400, 8, 1), *small_boards(rng, 300, 4, 2)]
    assert sum(agrees(board, minimise="actions") for board in boards) == len(boards)


@pytest.mark.parametrize("budget", [1, 3, 10, 40, 200])
def test_what_a_small_budget_leaves_open_is_never_told_as_decided(budget: int) -> None:
    rng = random.Random(budget)
    boards = list(small_boards(rng, 300, 10, 1))
    decided = [agrees(board, node_budget=budget) for board in boards]
    assert budget > 10 or not all(decided)


def test_all_boards_of_up_to_five_cells() -> None:
    """Every board up to renaming classes, at every width, with 0 and 1 Adds, the shorter ones with 2."""
    for width in range(2, 10):
        ruleset = named(width=width)
        for word in words(5):
            for adds in (0, 1, 2) if len(word) < 5 else (0, 1):
                assert agrees(Board(word, adds, ruleset))


@pytest.mark.soak
def test_all_boards_of_five_cells_with_two_adds_under_every_ruleset() -> None:
    for width in range(2, 10):
        for settings in EVERY_LINK_SETTING:
            for word in words(5):
                assert agrees(Board(word, 2, named(width=width, **settings)))


def words(longest: int) -> Iterator[tuple[int, ...]]:
    """Words over 1-5 whose letters first come in order: one of each kind up to renaming."""
    queue: list[tuple[int, ...]] = [(1,)]
    for word in queue:
        yield word
        if len(word) < longest:
            queue += [(*word, letter) for letter in range(1, min(max(word) + 1, 5) + 1)]


def test_boards_with_holes() -> None:
    rng = random.Random(8)
    for board in small_boards(rng, 600, 16, 1):
        cells = [0 if rng.random() < 0.4 else digit for digit in board.cells]
        text = replace(board, cells=tuple(cells)).text
        holed = Board.parse(text, board.ruleset).with_adds(board.adds)
        if holed.active <= 8:
            assert agrees(holed)


def test_boards_that_need_more_than_one_word() -> None:
    """The same small boards behind rows of holes are the same; and wide boards with few cells use the longer words."""
    rng = random.Random(9)
    for width, squares in ((70, 140), (100, 200)):
        ruleset = named(width=width)
        for _ in range(60):
            places = sorted(rng.sample(range(squares), rng.choice((4, 6, 8))))
            cells = [0] * squares
            for place in places:
                cells[place] = rng.randint(1, 3)
            board = Board.parse(replace(Board((), 0, ruleset), cells=tuple(cells)).text, ruleset).with_adds(0)
            truth = plain_clearable(board)
            result = checked(board)
            assert (result.verdict == "clearable") == truth, board


def plain_clearable(board: Board) -> bool:
    """Without Adds, on the plain rules."""
    return board.cleared or any(plain_clearable(board.play(f"{i}-{j}")) for i, j in board.pairs())


# structure


def test_structure_counts_what_an_exhaustive_search_counts() -> None:
    rng = random.Random(21)
    seen = 0
    for board in small_boards(rng, 250, 9, 1):
        result = solve(board)
        found = structure(result)
        truth = exact(board)
        assert (found is None) == (truth.min_adds is None)
        if found is None or result.solution is None or truth.min_adds is None:
            continue
        at = board.with_adds(truth.min_adds)
        assert found.openings == len(at.pairs())
        assert found.good_openings == sum(clears(at.play(f"{i}-{j}")) for i, j in at.pairs())
        forced = 0
        for action in result.solution:
            forced += sum(clears(at.play(other)) for other in legal_actions(at)) == 1
            at = at.play(action)
        assert found.forced == forced
        assert sum(found.links.values()) == len(result.solution) - result.solution.count("+")
        seen += 1
    assert seen > 100


def clears(board: Board) -> bool:
    return exact(board).min_adds is not None


def test_a_verdict_alone_is_the_same_verdict() -> None:
    rng = random.Random(22)
    for board in small_boards(rng, 300, 10, 1):
        assert solve(board, verdict_only=True).verdict == solve(board).verdict


# metamorphic


def test_a_larger_allowance_never_takes_a_clear_away() -> None:
    rng = random.Random(4)
    for board in small_boards(rng, 300, 14, 0):
        verdicts = [checked(board.with_adds(adds), node_budget=3000).verdict for adds in (0, 1, 2)]
        assert "unclearable" not in verdicts[verdicts.index("clearable") :] if "clearable" in verdicts else True


def test_renaming_classes_and_swapping_digits_change_nothing_that_is_decided() -> None:
    rng = random.Random(5)
    for _ in range(40):
        ruleset = random_ruleset(rng, range(3, 10))
        board = random_board(rng, rng.randint(10, 24), ruleset).with_adds(1)
        order = rng.sample(range(1, 6), 5)
        renamed = tuple(rng.choice((order[class_of(d) - 1], 10 - order[class_of(d) - 1])) for d in board.cells)
        one = checked(board, node_budget=30_000)
        other = checked(replace(board, cells=renamed), node_budget=30_000)
        assert {one.verdict, other.verdict} != {"clearable", "unclearable"}
        for a, b in ((one.min_adds, other.min_adds), (one.par, other.par)):
            if a is not None and b is not None:
                assert a.lower <= (b.upper if b.upper is not None else 10**9)
                assert b.lower <= (a.upper if a.upper is not None else 10**9)


def test_the_same_board_gives_the_same_answer_and_nodes_in_any_thread_and_order() -> None:
    rng = random.Random(6)
    boards = [random_board(rng, rng.choice((12, 20, 27, 35)), named()).with_adds(2) for _ in range(24)]
    alone = [solve(board, node_budget=20_000) for board in boards]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda board: solve(board, node_budget=20_000), reversed(boards)))
    assert together[::-1] == alone


# named boards


@pytest.mark.parametrize(
    "row", [row for row in position_rows() if row.check.endswith("clearable")], ids=lambda row: f"line {row.line}"
)
def test_golden_verdicts(row: Position) -> None:
    result = checked(Board.parse(row.board, named(width=row.width)).with_adds(int(row.expected)))
    assert result.verdict == row.check


@pytest.mark.parametrize(
    ("text", "width", "verdict", "min_adds"),
    [
        ("518145871/636527126/958716539/27158326 +5", 9, "clearable", 1),
        ("316372222/5516 +2", 9, "clearable", 1),
        ("43/32/13/52 +2", 2, "clearable", 2),
        ("23/53/51/53/2 +2", 2, "clearable", 2),
        ("25/15/31/45 +2", 2, "clearable", 2),
        ("1143 +2", 4, "clearable", 1),
        ("545333 +1", 9, "clearable", 1),
        ("123/456 +5", 3, "unclearable", 6),
        ("12/34 +5", 2, "unclearable", 6),
        ("- +3", 9, "clearable", 0),
    ],
)
def test_boards_of_note(text: str, width: int, verdict: str, min_adds: int) -> None:
    result = checked(Board.parse(text, named(width=width)))
    assert (result.verdict, result.min_adds.lower) == (verdict, min_adds)


def test_an_add_on_many_rows_that_outgrows_its_word_is_not_tried_for_ever() -> None:
    board = Board.parse("..498...7/6......../.....5.../.4......./...6..8../......976/54.. +1")
    for budget in (2_000, 20_000, 1_000_000):
        assert checked(board, node_budget=budget).verdict == "clearable"


def test_one_node_decides_nothing() -> None:
    assert checked(Board.parse("123 +1", named(width=3)), node_budget=1).verdict == "undecided"


def test_full_tables_forget_and_never_err() -> None:
    rng = random.Random(12)
    for _ in range(6):
        board = random_board(rng, 40, named()).with_adds(1)
        small = checked(board, memory_mib=1, node_budget=60_000)
        assert small.verdict in ("clearable", "undecided")


def test_a_board_too_large_says_so_before_it_starts() -> None:
    with pytest.raises(BoardTooLarge, match="300 cells, the solver takes at most 256"):
        solve(Board((1, 2) * 150))


def test_the_largest_allowance_takes_no_more_time_or_memory() -> None:
    result = checked(Board.parse("123/456 +9999", named(width=3)))
    assert (result.verdict, result.min_adds.lower) == ("undecided", 6)


def test_an_add_that_would_not_fit_leaves_the_board_undecided() -> None:
    rules = Ruleset("width-255", 255)
    board = Board(tuple((1, 2, 3, 4, 5)[k % 5] for k in range(231)), 1, rules)
    assert checked(board, node_budget=2000).verdict in ("clearable", "undecided")


def test_budgets_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="node budget 0"):
        solve(Board.parse("11"), node_budget=0)
