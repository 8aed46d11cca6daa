"""The golden data in tests/data, and boards made at random, for the tests of rules, kernels and solver."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from number_match.rules import RULESETS, VEYRA_1, Board, Ruleset, named

DATA = Path(__file__).parent / "data"

EVERY_LINK_SETTING = [
    {"row": row, "column": column, "diagonal": diagonal, "wrap": wrap}
    for row, column, diagonal, wrap in product((True, False), repeat=4)
]


class Perft(NamedTuple):
    """One row of a golden perft file."""

    id: str
    board: Board
    depth: int
    sequences: int
    checksum: int


class Position(NamedTuple):
    """One row of positions.tsv; `line` counts from 1."""

    line: int
    width: int
    board: str
    check: str
    expected: str


def perft_rows() -> Iterator[Perft]:
    for file in sorted(DATA.glob("perft/*.perft")):
        ruleset = RULESETS.get(file.stem, VEYRA_1)
        name, board = "", Board(())
        for line in file.read_text().splitlines():
            match line.split(" ", 1):
                case ["id", text]:
                    name = f"{file.stem}:{text}"
                case ["board", text]:
                    board = Board.parse(text, ruleset)
                case ["perft", text]:
                    depth, count, checksum = text.split()
                    yield Perft(name, board, int(depth), int(count), int(checksum, 16))


def position_rows() -> list[Position]:
    lines = (DATA / "positions.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return [Position(number, int(row[0]), *row[1:4]) for number, row in enumerate(rows, 2)]


def random_ruleset(rng: random.Random, widths: range) -> Ruleset:
    """Any width, and links off now and then."""
    return named(
        width=rng.choice(widths), **{link: rng.random() < 0.8 for link in ("row", "column", "diagonal", "wrap")}
    )


def random_board(rng: random.Random, cells: int, ruleset: Ruleset, classes: int = 5) -> Board:
    """A starting board; with fewer classes more pairs."""
    return Board(tuple(rng.choice((d, 10 - d)) for d in (rng.randint(1, classes) for _ in range(cells))), 0, ruleset)


def random_game(rng: random.Random, board: Board) -> Iterator[tuple[Board, str]]:
    """Positions of one random game and the action taken at each; an Add comes at any time."""
    while not board.cleared:
        pairs = board.pairs()
        if board.adds and (not pairs or rng.random() < 0.1):
            action = "+"
        elif pairs:
            i, j = rng.choice(pairs)
            action = f"{i}-{j}"
        else:
            return
        yield board, action
        board = board.play(action)
