"""The checked door of the playouts: a board and a player come in, counts of how playouts went come out.

    >>> from number_match.players import Player
    >>> board = Board.parse("518145871/636527126/958716539/27158326")
    >>> figures = simulate(board, Player(kind="random"), name="random", max_adds=3, playouts=range(1000), seed=1)
    >>> figures.playouts, len(figures.passed)
    (1000, 4)

A playout depends on the board, the player's parameters and its key, which is made of seed, puzzle id, player's name,
stream and the playout's number (DESIGN.md section 4). So ranges of playouts can be cut anywhere, played anywhere, and
merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Any

from number_match.errors import UserError
from number_match.identity import puzzle_id, stream_keys
from number_match.players import Player, exponential, integers
from number_match.rules import ADD, HOLE, Board, Ruleset, class_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCORING_BEHAVIOUR = 1
"""Goes up when the same board, player and key may lead to another playout; stamped on packs."""
MAX_ADDS = 99
CHUNK = 4096
"""Playouts whose keys are held at a time."""
Z95 = 1.959963984540054
"""The standard normal quantile of 0.975."""

Histogram = tuple[tuple[int, int], ...]
"""Values and how often each was seen, by value."""


# ------------------------------------------------------------------------------------------------------------- figures


@dataclass(frozen=True, slots=True)
class PlayoutFigures:
    """How the playouts of one player on one board went, for every allowance a = 0 … max_adds."""

    passed: tuple[int, ...]
    """passed[a]: playouts that cleared the board within allowance a."""
    playouts: int
    used: tuple[int, ...]
    """used[k]: of those that cleared it within max_adds, how many took k Adds."""
    actions: Histogram
    """The actions (pairs and Adds) of those that cleared it within max_adds."""
    left: tuple[Histogram, ...]
    """left[a]: active cells left by the playouts that did not clear it within allowance a."""

    def merge(self, other: PlayoutFigures) -> PlayoutFigures:
        """The figures of both sets of playouts together, which must be of one board, player and max_adds.

        Raises:
            ValueError: the largest allowances differ.
        """
        return merge((self, other))

    def interval(self, allowance: int) -> tuple[float, float]:
        """The Wilson 95% interval of the pass rate within this allowance."""
        return wilson(self.passed[allowance], self.playouts)


def merge(parts: Iterable[PlayoutFigures]) -> PlayoutFigures:
    """The figures of several sets of playouts of one board, player and max_adds, at least one set."""
    every = list(parts)
    if len({len(figures.passed) for figures in every}) != 1:
        raise ValueError("figures to merge: expected at least one, all with the same largest allowance")
    return PlayoutFigures(
        passed=tuple(map(sum, zip(*(figures.passed for figures in every), strict=True))),
        playouts=sum(figures.playouts for figures in every),
        used=tuple(map(sum, zip(*(figures.used for figures in every), strict=True))),
        actions=_together(figures.actions for figures in every),
        left=tuple(_together(column) for column in zip(*(figures.left for figures in every), strict=True)),
    )


def _together(histograms: Iterable[Histogram]) -> Histogram:
    total: Counter[int] = Counter()
    for histogram in histograms:
        total.update(dict(histogram))
    return tuple(sorted(total.items()))


def wilson(passed: float, playouts: float) -> tuple[float, float]:
    """Wilson's 95% interval of a rate (Wilson 1927, doi:10.1080/01621459.1927.10502953), at least 0 and at most 1.

    Effective counts need not be whole.

    Raises:
        ValueError: not 0 <= passed <= playouts.
    """
    if not 0 <= passed <= playouts:
        raise ValueError(f"{passed} of {playouts} playouts passed: expected 0 <= passed <= playouts")
    if playouts == 0:
        return 0.0, 1.0
    n, p, zz = playouts, passed / playouts, Z95 * Z95
    middle = (p + zz / (2 * n)) / (1 + zz / n)
    half = Z95 / (1 + zz / n) * sqrt(p * (1 - p) / n + zz / (4 * n * n))
    return (0.0 if passed == 0 else middle - half), (1.0 if passed == playouts else middle + half)


# ------------------------------------------------------------------------------------------------------------- playing


def simulate(
    board: Board, player: Player, *, name: str, max_adds: int, playouts: range, seed: int, stream: str = "report"
) -> PlayoutFigures:
    """Play `board` (whose own allowance does not matter) once for every number in `playouts`.

    Args:
        name: the player's name in the config, part of every playout's key.
        max_adds: the largest allowance; every smaller one is answered by the same playouts, up to 99.
        stream: `screen`, `select` or `report`.

    Raises:
        UserError: the board has more than 256 cells, or max_adds or playouts are out of range.
    """
    _check(board, max_adds, playouts)
    run = Playing(board, player, max_adds)
    puzzle = puzzle_id(board)
    for begin in range(playouts.start, playouts.stop, CHUNK):
        numbers = range(begin, min(begin + CHUNK, playouts.stop))
        run.play(stream_keys(seed, "score", puzzle, name, stream, numbers))
    return run.figures()


def _check(board: Board, max_adds: int, playouts: range) -> None:
    from number_match.kernels import playouts as kernels

    if len(board.cells) > kernels.MAX_SQUARES:
        raise UserError(f"a board of {len(board.cells)} cells: players take at most {kernels.MAX_SQUARES}")
    if not 0 <= max_adds <= MAX_ADDS:
        raise UserError(f"largest allowance {max_adds}: expected 0 to {MAX_ADDS}")
    if playouts.step != 1 or playouts.start < 0 or playouts.stop < playouts.start:
        raise UserError(f"playouts {playouts}: expected a range of numbers from 0 upwards, by 1")


class Playing:
    """One board and player made ready for the kernels, and the tallies that their playouts count up."""

    def __init__(self, board: Board, player: Player, max_adds: int) -> None:
        import numpy as np

        from number_match.kernels import playouts as kernels

        self.kernels = kernels
        self.max_adds = max_adds
        self.start = position_of(board)
        self.ruleset, self.lines = _lines_of(board.ruleset)
        longest = len(board.cells) // 2 + max_adds * (kernels.MAX_SQUARES // 4 + 1) + 1
        self.log = np.zeros(longest, np.uint32)
        self.left = np.zeros((max_adds + 1, kernels.MAX_SQUARES + 1), np.int64)
        self.used = np.zeros(max_adds + 1, np.int64)
        self.actions = np.zeros(longest, np.int64)
        self.position, self.branch = np.zeros_like(self.start), np.zeros_like(self.start)
        self.player = _player_tables(player) if player.kind == "noticing" else None
        self.lists = kernels.new_lists()
        self.playouts = 0

    def play(self, keys: NDArray[np.uint64]) -> None:
        self.playouts += len(keys)
        tallies = (self.left, self.used, self.actions)
        given = (self.start, keys, self.max_adds, self.ruleset, self.lines)
        if self.player is None:
            self.kernels.play_uniform(*given, (self.position, self.log), tallies)
        else:
            buffers = (self.position, self.branch, self.log)
            self.kernels.play_noticing(*given, self.player, buffers, self.lists, tallies)

    def logged(self) -> tuple[str, ...]:
        """The actions of the last playout, within max_adds."""
        made = self.log[: int(self.position[int(self.kernels.HEAD), int(self.kernels.DONE)])].tolist()
        return tuple(ADD if entry == self.kernels.ADD_LOGGED else f"{entry & 0xFFFF}-{entry >> 16}" for entry in made)

    def figures(self) -> PlayoutFigures:
        return PlayoutFigures(
            passed=tuple(self.left[:, 0].tolist()),
            playouts=self.playouts,
            used=tuple(self.used.tolist()),
            actions=_histogram(self.actions),
            left=tuple(_histogram(row, above=0) for row in self.left),
        )


def _histogram(counts: NDArray[np.int64], above: int = -1) -> Histogram:
    values = counts.nonzero()[0].tolist()
    return tuple((value, int(counts[value])) for value in values if value > above)


def position_of(board: Board) -> NDArray[np.uint64]:
    """The board as the playout kernels hold it: uint64 (6, 8), see kernels/playouts.py."""
    import numpy as np

    from number_match.kernels.playouts import HEAD, HIGH, MAX_SQUARES

    sets = [0] * 4
    for square, digit in enumerate(board.cells):
        if digit != HOLE:
            for bit in range(3):
                sets[bit] |= (class_of(digit) >> bit & 1) << square
            sets[int(HIGH)] |= int(digit > 5) << square
    position = np.zeros((6, MAX_SQUARES // 64), np.uint64)
    for row, squares in enumerate(sets):
        position[row] = np.frombuffer(squares.to_bytes(MAX_SQUARES // 8, "little"), dtype="<u8")
    position[int(HEAD), 0] = len(board.cells)
    return position


@lru_cache(maxsize=64)
def _player_tables(player: Player) -> tuple[NDArray[Any], ...]:
    """A noticing player as the kernels take it: chances, saliences, exponential, settings."""
    import numpy as np

    whole = integers(player)
    values = (whole.opens, whole.rows, whole.word)
    rules = (whole.look_ahead, whole.looks, whole.deliberate, whole.slip, whole.deliberate_below, whole.patience)
    return (
        np.array(whole.notice, np.uint64),
        np.array(whole.salience, np.int64),
        np.array(exponential(), np.uint64),
        np.array(values + rules, np.int64),
    )


@lru_cache(maxsize=8)
def _lines_of(ruleset: Ruleset) -> tuple[tuple[Any, Any], tuple[Any, ...]]:
    """(width, links of reading order) and the tables of lines for every size of set."""
    import numpy as np

    from number_match.kernels.playouts import SIZES, lines_of

    reading = int(ruleset.row) + 2 * int(ruleset.wrap)
    tables = tuple(lines_of(ruleset.width, ruleset.column, ruleset.diagonal, size) for size in SIZES)
    return (np.uint64(ruleset.width), np.uint64(reading)), tables


def trace(board: Board, player: Player, key: int, allowance: int) -> tuple[str, ...]:
    """The actions of one playout within an allowance, in the notation of solutions.

    Raises:
        UserError: as `simulate`.
    """
    import numpy as np

    _check(board, allowance, range(1))
    run = Playing(board, player, allowance)
    run.play(np.array([key], np.uint64))
    return run.logged()
