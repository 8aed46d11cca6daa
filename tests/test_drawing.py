"""Boards drawn in the terminal, compared with pictures drawn by hand."""

from textwrap import dedent

import pytest

from number_match.drawing import draw
from number_match.rules import Board, Ruleset


@pytest.mark.parametrize(
    ("board", "width", "picture"),
    [
        (
            "12.2/1",
            4,
            """\
                0   1   2   3
            0   1   2───────2
                │
            4   1
            """,
        ),
        (
            "1.3/..5/7.9",
            3,
            """\
                0   1   2
            0   1   ·   3
                  ╲   ╱
            3   ·   ╳   5
                  ╱   ╲
            6   7   ·   9
            """,
        ),
        (
            "12..../..8..1",
            6,
            """\
                0   1   2   3   4   5
            0   1   2─────────────────→
                      ╲
            6 →─────────8   ·   ·   1
            """,
        ),
        (
            "..1../2.3.8/..9..",
            5,
            """\
                 0   1   2   3   4
             0   ·   ·   1   ·   ·

             5   2   ·   3   ·   8

            10   ·   ·   9   ·   ·
            """,
        ),
        (
            "..1../2...8/..9..",
            5,
            """\
                 0   1   2   3   4
             0   ·   ·   1   ·   ·
                         │
             5   2───────┼───────8
                         │
            10   ·   ·   9   ·   ·
            """,
        ),
    ],
)
def test_pairs_are_joined_by_lines(board: str, width: int, picture: str) -> None:
    drawn = draw(Board.parse(board, Ruleset.parse(f"width={width}")))
    assert drawn == dedent(picture).rstrip("\n")


def test_a_cleared_board_is_said_to_be_cleared() -> None:
    assert draw(Board.parse("-")) == "(cleared)"


def test_without_unicode_the_lines_are_ascii() -> None:
    picture = draw(Board.parse("12..../..8..1/1.3", Ruleset.parse("width=6")), ascii_only=True)
    assert picture.isascii()
    assert "2----------------->" in picture


def test_colour_changes_nothing_but_the_digits() -> None:
    board = Board.parse("123456789/987.54321")
    coloured = draw(board, colour=True)
    assert "\x1b[1;34m1\x1b[0m" in coloured
    for code in ("\x1b[0m", *(f"\x1b[1;{colour}m" for colour in (32, 33, 34, 35, 36))):
        coloured = coloured.replace(code, "")
    assert coloured == draw(board)


def test_a_wide_and_a_long_board_are_drawn_whole() -> None:
    assert len(draw(Board.parse("5" * 255, Ruleset.parse("width=255"))).splitlines()) == 2
    tall = draw(Board.parse("/".join("5" * 1500), Ruleset.parse("width=1"))).splitlines()
    assert len(tall) == 3000
    assert tall[-1] == "1499 →─5"
