"""Digits for classes: a board comes in, one that is the same puzzle but harder or easier to see goes out.

Digits of one class ({1,9} {2,8} {3,7} {4,6}) may be swapped cell by cell without touching what clears the board,
because two digits match exactly when they are of one class (DESIGN.md section 7). But equal digits are seen more
easily than a sum of 10, so the share of equal pairs among the opening pairs is a knob for how hard a board is to
read.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from hashlib import blake2b

from number_match.rules import HOLE, Board, class_of

FIVE = 5


def equal_share(board: Board) -> Fraction | None:
    """The share of the opening pairs whose digits are equal, fives left out, as they can be nothing else; None
    without pairs.
    """
    pairs = _free_pairs(board)
    return Fraction(sum(board.cells[i] == board.cells[j] for i, j in pairs), len(pairs)) if pairs else None


def reskinned(board: Board, share: float, seed: int) -> Board:
    """The same puzzle with digits such that about `share` of its opening pairs are equal and the others sum to 10.

    Where pairs form rings of odd length not every share can be had: then the nearest that single swaps lead to. Cells
    in no opening pair get either digit of their class. The same board's classes, share and seed give the same digits
    anywhere.

    Raises:
        ValueError: share is not from 0 to 1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share of equal pairs {share}: expected 0 to 1")
    classes = replace(board, cells=tuple(class_of(digit) if digit else HOLE for digit in board.cells))
    about = f"skin|{board.ruleset.settings}|{classes.text}|{seed}"
    pairs = sorted(_free_pairs(board), key=lambda pair: _mark(about, *pair))
    wanted = (2 * len(pairs) * int(share * 10_000) + 10_000) // 20_000
    high = [digit != HOLE and _mark(about, cell) % 2 == 1 for cell, digit in enumerate(board.cells)]
    alike = dict.fromkeys(pairs[:wanted], True) | dict.fromkeys(pairs[wanted:], False)
    _obey(high, alike)
    _improve(high, pairs, wanted, about)
    digits = (_digit(class_of(digit), up) if digit else HOLE for digit, up in zip(board.cells, high, strict=True))
    return replace(board, cells=tuple(digits))


def _free_pairs(board: Board) -> list[tuple[int, int]]:
    return [pair for pair in board.pairs() if board.cells[pair[0]] != FIVE]


def _digit(kind: int, high: bool) -> int:
    return 10 - kind if high else kind


def _mark(about: str, *cells: int) -> int:
    """A number that a cell or pair is given for good."""
    return int.from_bytes(blake2b(f"{about}|{cells}".encode(), digest_size=8).digest(), "big")


def _obey(high: list[bool], alike: dict[tuple[int, int], bool]) -> None:
    """Walk from cell to cell along the pairs and give each new cell the digit that its pair asks for."""
    neighbours: dict[int, list[tuple[int, bool]]] = {}
    for (i, j), same in alike.items():
        neighbours.setdefault(i, []).append((j, same))
        neighbours.setdefault(j, []).append((i, same))
    settled: set[int] = set()
    for start in neighbours:
        reached = [] if start in settled else [start]
        settled.add(start)
        while reached:
            cell = reached.pop()
            for other, same in neighbours[cell]:
                if other not in settled:
                    settled.add(other)
                    high[other] = high[cell] == same
                    reached.append(other)


def _improve(high: list[bool], pairs: list[tuple[int, int]], wanted: int, about: str) -> None:
    """Swap single cells while that brings the number of equal pairs nearer to what is wanted."""
    cells = sorted({cell for pair in pairs for cell in pair}, key=lambda cell: _mark(about, cell, cell))
    while True:
        missing = wanted - sum(high[i] == high[j] for i, j in pairs)
        gains = [sum(-1 if high[i] == high[j] else 1 for i, j in pairs if cell in (i, j)) for cell in cells]
        best = min(range(len(cells)), key=lambda k: (abs(missing - gains[k]), k), default=None)
        if best is None or abs(missing - gains[best]) >= abs(missing):
            return
        high[cells[best]] ^= True
