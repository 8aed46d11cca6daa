"""Candidates: a family of boards and a range of numbers come in, a table of boards goes out.

Candidate n of a family is drawn from a random stream of its own, so it is the same board in whatever shard, order or
process it is made. Hand-made boards come from a text file instead, one a line; candidate n is the n-th board in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from number_match.boards import content_lines
from number_match.config import Family, read_file
from number_match.errors import UserError
from number_match.identity import canonical_id, puzzle_id, stream_keys
from number_match.rng import below, draw
from number_match.rules import Board, NotationError, Ruleset
from number_match.skin import reskinned

GENERATOR_BEHAVIOUR = 1

SCHEMA = pl.Schema(
    {
        "family": pl.String,
        "number": pl.Int64,  # within the family, from 0
        "puzzle": pl.String,
        "canonical": pl.String,
        "board": pl.String,
        "cells": pl.Int64,
    }
)


def random_boards(family: Family, sizes: Sequence[int], numbers: range, ruleset: Ruleset, seed: int) -> pl.DataFrame:
    """Candidates of a random family: its digits by weight, at one of `sizes` numbers of cells, all equally likely.

    With parity `even`, boards are drawn again until every class has an even number of cells: that keeps the
    probabilities of the boards that remain as the weights have them, and takes 16 tries or fewer on average. With
    `equal_pairs`, digits are then swapped within their classes (see `skin.py`).

    Returns:
        A table of `SCHEMA`, one row a number.
    """
    keys = stream_keys(seed, "generate", family.name, "", "board", numbers)
    chosen = np.asarray(sizes)[below(draw(keys, np.uint64(0)), len(sizes))]
    boards: list[Board | None] = [None] * len(numbers)
    for size in np.unique(chosen):
        rows = np.flatnonzero(chosen == size)
        for row, digits in zip(rows, _digits(family, keys[rows], int(size)), strict=True):
            board = Board(tuple(digits.tolist()), 0, ruleset)
            boards[row] = board if family.equal_pairs is None else reskinned(board, family.equal_pairs, seed)
    return _table(family.name, numbers, [board for board in boards if board is not None])


def _digits(family: Family, keys: NDArray[np.uint64], size: int) -> NDArray[np.int64]:
    """Digits (n, size), one row a key. Number 1 + a * size + c of a stream is cell c of attempt a."""
    bounds = np.cumsum(np.asarray(family.digits, dtype=np.int64))
    found = np.zeros((len(keys), size), dtype=np.int64)
    open_rows = np.arange(len(keys))
    attempt = 0
    while open_rows.size:
        numbers = np.arange(1 + attempt * size, 1 + (attempt + 1) * size, dtype=np.uint64)
        draws = below(draw(keys[open_rows, None], numbers[None, :]), int(bounds[-1]))
        found[open_rows] = np.searchsorted(bounds, draws, side="right") + 1
        if family.parity == "any":
            break
        open_rows = open_rows[~_even(found[open_rows])]
        attempt += 1
    return found


def _even(digits: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows have an even number of cells of every class."""
    classes = np.minimum(digits, 10 - digits)
    odd = [(classes == number).sum(axis=1) % 2 for number in range(1, 6)]
    return np.asarray(np.sum(odd, axis=0) == 0)


def given_boards(name: str, texts: Sequence[str], numbers: range, ruleset: Ruleset) -> pl.DataFrame:
    """Candidates that are given as texts, already checked by `read_boards` or the config. Returns a table of
    `SCHEMA`."""
    return _table(name, numbers, [Board.parse(text, ruleset) for text in texts])


def read_boards(path: Path, key: str, ruleset: Ruleset) -> list[str]:
    """The boards of a text file, one a line; blank lines and comments, from # on, are skipped.

    Raises:
        UserError: the file cannot be read, holds no board, or a line is no board; names the line.
    """
    boards = []
    for place, text in content_lines(read_file(path, key), f"{key}: {path}"):
        try:
            board = Board.parse(text, ruleset)
        except NotationError as error:
            raise UserError(f"{place}: expected a board: {error}") from None
        if not board.active:
            raise UserError(f"{place}: {text!r}: expected a board with a digit on it")
        if board.adds:
            raise UserError(f"{place}: {text!r}: expected a board without +N; the allowance belongs to the Stage")
        boards.append(board.text)
    if not boards:
        raise UserError(f"{key}: {path}: expected at least one board, one a line")
    return boards


def _table(family: str, numbers: range, boards: Sequence[Board]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "family": [family] * len(boards),
            "number": list(numbers),
            "puzzle": [puzzle_id(board) for board in boards],
            "canonical": [canonical_id(board) for board in boards],
            "board": [board.text for board in boards],
            "cells": [board.active for board in boards],
        },
        schema=SCHEMA,
    )
