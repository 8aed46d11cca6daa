"""Counts of action sequences: a board and a depth, or a file of expected counts, come in; counts and checksums go out.

A perft file holds blocks of lines `id NAME`, `board BOARD` and `perft DEPTH COUNT CHECKSUM` (one for each depth). It is
how two implementations of the rules are compared: a rule got wrong shows up as another count at some depth.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from number_match import rules
from number_match.errors import UserError
from number_match.rules import RULESETS, VEYRA_1, Board, NotationError, Ruleset

_ROW = re.compile(r"perft\s+(\d{1,2})\s+(\d{1,20})\s+([0-9a-f]{16})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Row:
    """One expected count, and where it stands."""

    place: str
    id: str
    board: Board
    depth: int
    count: int
    checksum: int


def count(board: Board, depth: int) -> tuple[int, int]:
    """The number of legal sequences of exactly `depth` actions, and the checksum over their last positions.

    The same as `rules.perft`, compiled where the board with its Adds fits the compiled arrays.
    """
    cells = len(board.cells)
    if not cells or cells << min(board.adds, depth) >= 1 << 16:
        return rules.perft(board, depth)
    import numpy as np

    from number_match.kernels.board import perft_board

    total, checksum = perft_board(
        np.array(board.cells, np.uint8), board.width, board.ruleset.link_bits, board.adds, depth
    )
    return int(total), int(checksum)


def is_perft_file(lines: Sequence[tuple[str, str]]) -> bool:
    """Whether these lines (of `boards.text_lines`) are a perft file, rather than one board a line."""
    return any(line.split()[0] in ("id", "board", "perft") for _, line in lines[:1])


def ruleset_of(file: str) -> Ruleset:
    """The ruleset that a perft file is named after, such as `no-wrap.perft`; veyra-1 for every other name."""
    return RULESETS.get(Path(file).stem, VEYRA_1)


def read_rows(lines: Sequence[tuple[str, str]], ruleset: Ruleset) -> list[Row]:
    """The rows of a perft file.

    Raises:
        UserError: naming the file and line.
    """
    rows: list[Row] = []
    name, board = "", None
    for place, line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "id":
            name = rest.strip()
        elif kind == "board":
            try:
                board = Board.parse(rest, ruleset)
            except NotationError as error:
                raise UserError(f"{place}: {error}") from None
        elif found := _ROW.fullmatch(line):
            if board is None:
                raise UserError(f"{place}: a perft line before any board line")
            rows.append(Row(place, name, board, int(found[1]), int(found[2]), int(found[3], 16)))
        else:
            raise UserError(f"{place}: {line[:60]!r}: expected id NAME, board BOARD, or perft DEPTH COUNT CHECKSUM")
    if not rows:
        raise UserError(f"{lines[0][0]}: no perft line follows")
    return rows
