"""Playouts: a table of boards comes in, a table of how one player fared with each goes out.

Counts are all that is stored. Scores follow from them by `difficulty.py`, so that new weights or thresholds never mean
playing again. The three streams of DESIGN.md section 4 (`screen`, `select`, `report`) differ only in their random
numbers and lengths.
"""

from __future__ import annotations

import polars as pl

from number_match.config import Sampling
from number_match.lost import lost_shares
from number_match.players import Player
from number_match.rules import Board, Ruleset
from number_match.simulate import Histogram, PlayoutFigures, simulate, wilson

BLOCK = 500  # playouts between two looks at the interval

SCHEMA = pl.Schema(
    {
        "puzzle": pl.String(),
        "playouts": pl.Int64(),
        "passed": pl.List(pl.Int64),  # by allowance, from 0
        "used": pl.List(pl.Int64),  # of those that cleared it within the largest allowance: how many took 0, 1, … Adds
        "actions": pl.List(
            pl.Int64
        ),  # of the same: the actions at the quantiles `QUANTILES`; empty when there are none
        "left": pl.List(pl.List(pl.Int64)),  # by allowance: cells left by the others, as `_left` has them
        "lost": pl.List(pl.List(pl.Int64)),  # by allowance: the share lost at three moments, as `_lost` has it
    }
)
LOST_PLAYOUTS = 12
"""How many playouts are followed with the solver, of the reference player, on the `report` stream."""
LOST_NODES = 5000
QUANTILES = (5, 25, 50, 75, 95)


def score(
    boards: pl.DataFrame,
    ruleset: Ruleset,
    adds: tuple[int, int],
    name: str,
    player: Player,
    stream: str,
    sampling: Sampling,
    seed: int,
    lost: int = 0,
) -> pl.DataFrame:
    """Play every board of a table with columns `puzzle` and `board`.

    Args:
        adds: the allowances of the run: figures are for 0 to the largest, and the interval is watched at these.
        lost: the playouts of the sample for the column `lost`, which is empty with 0.

    Returns:
        A table of `SCHEMA`, a row for each row that came.
    """
    rows = []
    for puzzle, text in boards.select("puzzle", "board").iter_rows():
        board = Board.parse(text, ruleset)
        figures = _play(board, player, name, adds, sampling, seed, stream)
        rows.append(
            {
                "puzzle": puzzle,
                "playouts": figures.playouts,
                "passed": list(figures.passed),
                "used": list(figures.used),
                "actions": [_quantile(figures.actions, percent) for percent in QUANTILES if figures.actions],
                "left": [_left(histogram) for histogram in figures.left],
                "lost": [_lost(board, player, name, a, seed, lost) for a in range(adds[1] + 1)] if lost else [],
            }
        )
    return pl.DataFrame(rows, schema=SCHEMA)


def _play(
    board: Board, player: Player, name: str, adds: tuple[int, int], sampling: Sampling, seed: int, stream: str
) -> PlayoutFigures:
    """Blocks of playouts until the sampling rule is met."""

    def block(start: int, stop: int) -> PlayoutFigures:
        return simulate(
            board, player, name=name, max_adds=adds[1], playouts=range(start, stop), seed=seed, stream=stream
        )

    figures = block(0, sampling.playouts)
    while figures.playouts < sampling.cap and _width(figures, adds) >= sampling.half_width:
        figures = figures.merge(block(figures.playouts, min(figures.playouts + BLOCK, sampling.cap)))
    return figures


def _width(figures: PlayoutFigures, adds: tuple[int, int]) -> float:
    """The largest half-width, in points, of the 95% intervals at the allowances of the run."""
    intervals = [wilson(figures.passed[a], figures.playouts) for a in range(adds[0], adds[1] + 1)]
    return 50 * max(high - low for low, high in intervals)


def _quantile(histogram: Histogram, percent: int) -> int:
    """The least value that at least `percent` of those counted do not exceed."""
    wanted, seen = percent * sum(count for _, count in histogram), 0
    for value, count in histogram:
        seen += 100 * count
        if seen >= wanted:
            return value
    raise ValueError("the quantile of nothing")


def _left(histogram: Histogram) -> list[int]:
    """Cells left, in thousandths: the mean of all, of the best 5% and of the best 15%; empty when there are none.

    The best playouts tell more about people than the mean does (Roohi et al. 2021, arXiv:2107.12061).
    """
    total = sum(count for _, count in histogram)
    return [_mean_of_best(histogram, max(1, total * percent // 100)) for percent in (100, 5, 15)] if total else []


def _lost(board: Board, player: Player, name: str, allowance: int, seed: int, playouts: int) -> list[int | None]:
    """The share, in thousandths, of playouts lost already a quarter, half and three quarters of the way."""
    found = lost_shares(
        board, player, name=name, allowance=allowance, seed=seed, playouts=playouts, node_budget=LOST_NODES
    )
    return [None if lost is None else (2000 * lost + playouts) // (2 * playouts) for lost in found.lost]


def _mean_of_best(histogram: Histogram, number: int) -> int:
    """The mean of the `number` smallest values, in thousandths, rounded half up."""
    summed, open_places = 0, number
    for value, count in histogram:
        taken = min(count, open_places)
        summed, open_places = summed + value * taken, open_places - taken
    return (2000 * summed + number) // (2 * number)
