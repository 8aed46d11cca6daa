"""The plain rules: golden positions and counts, the notation, and what refusals say."""

from __future__ import annotations

import doctest
import pickle
import random

import pytest

from golden import (
    EVERY_LINK_SETTING,
    Perft,
    Position,
    perft_rows,
    position_rows,
    random_board,
    random_game,
    random_ruleset,
)
from number_match import rules
from number_match.identity import canonical_id, puzzle_id, stream_key, stream_keys
from number_match.rules import (
    VEYRA_1,
    Board,
    IllegalAction,
    NotationError,
    Ruleset,
    RulesetError,
    canonical_text,
    named,
    perft,
    reduced_word,
    replay,
)


def test_the_examples_in_the_docstrings() -> None:
    result = doctest.testmod(rules)
    assert (result.failed, result.attempted) == (0, 3)


# golden data


@pytest.mark.parametrize("row", list(perft_rows()), ids=lambda row: f"{row.id}@{row.depth}")
def test_perft_agrees_with_the_golden_counts(row: Perft) -> None:
    assert perft(row.board, row.depth) == (row.sequences, row.checksum)


@pytest.mark.parametrize(
    "row",
    [row for row in position_rows() if row.check not in ("clearable", "unclearable")],
    ids=lambda row: f"line {row.line}",
)
def test_golden_positions(row: Position) -> None:
    board = Board.parse(row.board, named(width=row.width))
    pairs = [f"{i}-{j}" for i, j in board.pairs()]
    match row.check.split():
        case ["legal"]:
            assert row.expected in pairs
            board.play(row.expected)
        case ["illegal"]:
            assert row.expected not in pairs
            with pytest.raises(IllegalAction):
                board.play(row.expected)
        case ["pairs"]:
            assert pairs == row.expected.split()
        case ["pair-count"]:
            assert len(pairs) == int(row.expected)
        case ["add"]:
            assert board.with_adds(1).play("+").text == row.expected
        case ["play", action]:
            assert board.play(action).text == row.expected
        case ["parse"]:
            assert board.text == row.expected
        case _:
            pytest.fail(f"a check that no test knows: {row.check}")


def test_the_golden_positions_are_all_there() -> None:
    assert len(position_rows()) == 115
    assert {row.check.split()[0] for row in position_rows()} >= {"legal", "illegal", "pairs", "add", "play", "parse"}


# notation


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("12..5..98/...3.7 +2", "12..5..98/...3.7 +2"),
        ("  123  +0 ", "123 +0"),
        ("-", "- +0"),
        ("- +3", "- +3"),
        (".........", "- +0"),
        ("........./5", "5 +0"),
        ("123456789/..", "123456789 +0"),
        ("12 +9999", "12 +9999"),
    ],
)
def test_what_parses_prints_and_parses_again(text: str, printed: str) -> None:
    board = Board.parse(text)
    assert str(board) == printed
    assert Board.parse(printed) == board


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("12x", 2, "'x' is not a digit"),
        ("120", 2, "a digit 0 is never on a board"),
        ("1234567891", 0, "row 1 has 10 cells, expected 1 to 9"),
        ("123/45", 0, "row 1 has 3 cells, expected 9"),
        ("123456789//1", 10, "row 2 has 0 cells, expected 9"),
        ("123456789/", 10, "row 2 has 0 cells"),
        ("", 0, "expected a board"),
        ("12 3", 3, "expected + and the Adds left"),
        ("12 +", 3, "expected + and the Adds left"),
        ("12 +x", 3, "expected + and the Adds left"),
        ("12 +01", 3, "expected + and the Adds left"),
        ("12 +10000", 3, "expected + and the Adds left (0 to 9999)"),
        ("1٣", 1, "is not a digit"),
        ("1²", 1, "is not a digit"),
    ],
)
def test_bad_notation_is_refused_with_its_position(text: str, position: int, reason: str) -> None:
    with pytest.raises(NotationError) as refusal:
        Board.parse(text)
    assert f"at {position}: " in str(refusal.value)
    assert reason in str(refusal.value)


def test_a_refusal_of_a_very_long_text_is_short() -> None:
    with pytest.raises(NotationError) as refusal:
        Board.parse("1" * 1_000_000)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("text", ["", "1", "2-1", "1-1", "01-2", "1-2 ", "1_0-2", "-1-2", "1-٢", "a-b", "1" * 10**6])
def test_bad_actions_are_refused(text: str) -> None:
    with pytest.raises(NotationError, match="is no action"):
        Board.parse("11").play(text)


# what a refusal of an action says

CROWDED = "172/471/.11"


@pytest.mark.parametrize(
    ("board", "action", "reason"),
    [
        (CROWDED, "0-2", "1 at 0 and 2 at 2 are neither equal nor sum to 10"),
        (CROWDED, "0-8", "7 at 4 blocks the diagonal"),
        (CROWDED, "0-5", "7 at 1 blocks the wrap"),
        (CROWDED, "0-7", "no link joins 0 and 7 (row, column, diagonal, wrap)"),
        (CROWDED, "0-6", "cell 6 is a hole"),
        (CROWDED, "0-9", "there is no cell 9, the last is 8"),
        ("131", "0-2", "3 at 1 blocks the row"),
        ("1../2../9..", "0-6", "2 at 3 blocks the column"),
        (CROWDED, "+", "no Add is left"),
        ("- +1", "+", "the board is cleared"),
        ("-", "0-1", "the board is cleared"),
    ],
)
def test_an_illegal_action_says_why(board: str, action: str, reason: str) -> None:
    position = Board.parse(board, named(width=3))
    with pytest.raises(IllegalAction) as refusal:
        position.play(action)
    assert str(refusal.value) == f"{action} is illegal: {reason}; board {position}"


def test_a_link_that_is_off_joins_nothing() -> None:
    for link, board, pair in [
        ("row", "11.", "0-1"),
        ("column", "12./1..", "0-3"),
        ("diagonal", "123/41.", "0-4"),
        ("wrap", "123/3", "2-3"),
    ]:
        on, off = named(width=3), named(width=3, **{link: False})
        assert Board.parse(board, on).play(pair)
        with pytest.raises(IllegalAction):
            Board.parse(board, off).play(pair)


def test_replay_names_the_action_that_fails() -> None:
    board = Board.parse("316372222/5516 +2")
    good = ["1-11", "2-12", "0-3", "5-6", "7-8", "9-10", "+", "4-9"]
    assert replay(board, good).cleared
    with pytest.raises(IllegalAction, match=r"^action 3: 0-9 is illegal: "):
        replay(board, [*good[:2], "0-9"])
    with pytest.raises(NotationError, match=r"^action 1: 'x' is no action"):
        replay(board, ["x"])


# rule 6 and the reading order of rule 5


def test_cleared_and_stuck() -> None:
    assert Board.parse("-").cleared
    assert not Board.parse("-").stuck
    assert Board.parse("12").stuck
    assert not Board.parse("12 +1").stuck
    assert not Board.parse("11").stuck


# rulesets


@pytest.mark.parametrize(
    ("text", "ruleset"),
    [
        ("veyra-1", VEYRA_1),
        ("no-wrap", named(wrap=False)),
        ("width=5,diagonal=false", named(width=5, diagonal=False)),
        ("width=9 row=1 column=1 diagonal=1 wrap=1", VEYRA_1),
        (" width=7 ", named(width=7)),
    ],
)
def test_rulesets_as_text(text: str, ruleset: Ruleset) -> None:
    assert Ruleset.parse(text) == ruleset
    assert Ruleset.parse(ruleset.settings) == ruleset


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("veyra-2", "neither a known id"),
        ("width=0", "from 1 to 255"),
        ("width=1000000000", "from 1 to 255"),
        ("width=x", "expected a whole number"),
        ("diagonal=maybe", "expected true or false"),
        ("width=5,width=6", "given twice"),
        ("", "neither a known id"),
    ],
)
def test_bad_rulesets_are_refused(text: str, reason: str) -> None:
    with pytest.raises(RulesetError, match=reason):
        Ruleset.parse(text)


def test_a_ruleset_checks_its_own_settings() -> None:
    with pytest.raises(RulesetError, match="width True"):
        Ruleset(width=True)
    with pytest.raises(RulesetError, match="row 1"):
        Ruleset(row=1)  # type: ignore[arg-type]
    with pytest.raises(RulesetError, match="ruleset id"):
        Ruleset(id="a b")


# boards as values


def test_boards_are_values() -> None:
    board = Board.parse("123 +1")
    assert {board: 1}[Board.parse("123 +1")] == 1
    assert pickle.loads(pickle.dumps(board)) == board
    with pytest.raises(AttributeError):
        board.adds = 3  # type: ignore[misc]


def test_pairs_links_and_refusals_agree_on_random_positions() -> None:
    """A pair is exactly what `links` joins and `play` accepts, under every setting of the links."""
    rng = random.Random(20)
    for settings in EVERY_LINK_SETTING:
        ruleset = named(width=rng.randint(1, 6), **settings)
        board = random_board(rng, 14, ruleset, classes=3).with_adds(1)
        for position, _ in random_game(rng, board):
            cells = len(position.cells)
            pairs = set(position.pairs())
            for i in range(cells):
                for j in range(i + 1, cells):
                    match = rules.matches(position.cells[i], position.cells[j])
                    assert ((i, j) in pairs) == (match and position.links(i, j) != ())
                    assert ((i, j) in pairs) == (position._why_not(i, j) == "")


# classes, words, names


def test_classes_letters_and_words() -> None:
    board = Board.parse("316372222/5516")
    assert canonical_text(board) == "abcaadddd/eebc"
    assert rules.class_counts(board) == (2, 4, 3, 2, 2)
    assert reduced_word(Board.parse("1991")) == ()
    assert reduced_word(Board.parse("12.8/3", named(width=4))) == (1, 3)


def test_ids_are_those_of_the_design() -> None:
    board = Board.parse("316372222/5516 +2")
    assert puzzle_id(board) == "p-27a3124563bcfc2930a1"
    assert canonical_id(board) == "sha256:3837461d87fbb3fe6873f27745f442b09e9baf8f48f8a80add31ceeac9a7e6a2"


def test_canonical_ids_are_equal_exactly_up_to_renaming_classes() -> None:
    rng = random.Random(3)
    for _ in range(200):
        board = random_board(rng, 12, random_ruleset(rng, range(1, 9)))
        order = rng.sample(range(1, 6), 5)
        renamed = tuple(rng.choice((order[min(d, 10 - d) - 1], 10 - order[min(d, 10 - d) - 1])) for d in board.cells)
        assert canonical_id(Board(renamed, 0, board.ruleset)) == canonical_id(board)
        changed = list(board.cells)
        k = rng.randrange(len(changed))
        changed[k] = next(d for d in range(1, 6) if d != min(changed[k], 10 - changed[k]))
        other = Board(tuple(changed), 0, board.ruleset)
        assert (canonical_id(other) == canonical_id(board)) == (canonical_text(other) == canonical_text(board))


def test_stream_keys_are_the_first_eight_bytes_of_blake2b() -> None:
    keys = stream_keys(1, "score", "p-1", "casual", "report", range(9, 12))
    assert keys.tolist() == [stream_key(1, "score", "p-1", "casual", "report", k) for k in range(9, 12)]
    assert stream_key(2**80, "score", "p-1", "casual", "report", 9) != keys[0]  # seeds are not cut
