"""An exhaustive solver without any pruning, for the tests: every action at every position, nothing but a memo of exact
positions.

It plays with `kernels/board.py`, which is held to the plain rules elsewhere, and shares nothing else with the solver.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64, njit, types
from numba.typed import Dict

from number_match.kernels import board as kernel
from number_match.rules import Board, class_of

NEVER = 1 << 30
_KEY = types.UniTuple(int64, 3)  # type: ignore[no-untyped-call]


class Exact(NamedTuple):
    """The fewest pairs that clear with exactly k Adds, for k = 0 … allowance; None where nothing does."""

    pairs: tuple[int | None, ...]

    @property
    def min_adds(self) -> int | None:
        return next((k for k, pairs in enumerate(self.pairs) if pairs is not None), None)

    @property
    def par(self) -> int | None:
        return None if self.min_adds is None else self.pairs[self.min_adds]

    @property
    def actions(self) -> int | None:
        return min((pairs + k for k, pairs in enumerate(self.pairs) if pairs is not None), default=None)


@njit(cache=True)
def _fewest(cells, n, width, links, adds, late, memo):  # type: ignore[no-untyped-def]
    """The fewest pairs that clear with exactly `adds` Adds; with `late`, each made where no pair is left."""
    if n == 0:
        return 0 if adds == 0 else NEVER
    low = high = np.int64(0)
    for k in range(n):
        if k < 20:
            low |= np.int64(cells[k]) << (3 * k)
        else:
            high |= np.int64(cells[k]) << (3 * (k - 20))
    key = (low, high, np.int64(n * 8 + adds))
    if key in memo:
        return memo[key]
    best = NEVER
    found = np.empty(4 * n, np.int64)
    undo = np.empty(kernel.UNDO, np.int64)
    number = kernel.pairs(cells, n, width, links, found)
    for p in range(number):
        m = kernel.play(cells, n, width, found[p] >> 16, found[p] & 0xFFFF, undo)
        best = min(best, 1 + _fewest(cells, m, width, links, adds, late, memo))
        kernel.unplay(cells, m, width, undo)
    if adds and not (late and number):
        m = kernel.add(cells, n)
        if m > 40:
            raise ValueError("too large for the exhaustive solver")
        best = min(best, _fewest(cells, m, width, links, adds - 1, late, memo))
    memo[key] = best
    return best


def exact(board: Board, *, late: bool = False) -> Exact:
    """The whole truth about a small board: at most 40 squares with its Adds. With `late` only of Adds where no pair is
    left."""
    cells = np.zeros(96, np.uint8)
    cells[: len(board.cells)] = [digit and class_of(digit) for digit in board.cells]
    memo: Any = Dict.empty(_KEY, int64)
    counts = (
        int(_fewest(cells, len(board.cells), board.width, board.ruleset.link_bits, adds, late, memo))
        for adds in range(board.adds + 1)
    )
    return Exact(tuple(None if count >= NEVER else count for count in counts))
