"""The report tables: the pack and all figures come in, four tables with fixed columns go out, for people and charts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from number_match import models
from number_match.assemble import Assembly, Pool
from number_match.config import Config
from number_match.difficulty import HARDEST, THOUSAND, band, calibrated
from number_match.errors import UserError
from number_match.figures import Figures
from number_match.order import Order
from number_match.simulate import wilson
from number_match.store import Store

PUZZLES = pl.Schema(
    {
        "puzzle": pl.String(),
        "canonical": pl.String(),
        "board": pl.String(),
        "family": pl.String(),
        "number": pl.Int64(),  # within the family; with the config's seed it makes the board again
        "round": pl.Int64(),  # 0 is the base pool
        "cells": pl.Int64(),
        "min_adds_lower": pl.Int64(),
        "min_adds_upper": pl.Int64(),
        "par_lower": pl.Int64(),
        "par_upper": pl.Int64(),
        "needs_early_add": pl.Boolean(),
        "nodes": pl.Int64(),
        "stream": pl.String(),  # the best stream that its scores come from: screen or select
        "playouts": pl.Int64(),  # of the reference player, in that stream
        "scores": pl.List(pl.Float64),  # difficulty by allowance, from 0, in points
        "floor": pl.List(pl.Float64),  # pass rate of the floor player, by allowance, in per cent; null without a floor
        "median_actions": pl.Int64(),  # of the reference player, -1 when it never clears the board; null when not asked
        "stage": pl.String(),  # where it stands; null when it is not used
    }
)
PLAYER = pl.Struct(
    {
        "player": pl.String,
        "playouts": pl.Int64,
        "passed": pl.List(pl.Int64),  # by allowance, from 0
        "used": pl.List(pl.Int64),  # those that cleared it, by the Adds that they took
        "actions": pl.List(pl.Int64),  # of the same, at the quantiles 5, 25, 50, 75, 95 %
        "left": pl.List(pl.List(pl.Float64)),  # by allowance: cells left by the others: mean, of the best 5 % and 15 %
        "lost": pl.List(pl.List(pl.Float64)),  # by allowance: share lost already at 1/4, 1/2, 3/4 of the way
    }
)
STAGES = pl.Schema(
    {
        "stage": pl.String(),
        "level": pl.String(),
        "number": pl.Int64(),  # in the pack, from 1
        "puzzle": pl.String(),
        "family": pl.String(),
        "board": pl.String(),
        "cells": pl.Int64(),
        "adds": pl.Int64(),
        "min_adds": pl.Int64(),
        "par": pl.Int64(),
        "target": pl.Float64(),  # points, like all that follow
        "select": pl.Float64(),  # the score that decided; null for Stages of an earlier pack
        "score": pl.Float64(),  # the score on the report stream
        "low": pl.Float64(),  # its 95% interval, from the interval of the pass rate of the reference player
        "high": pl.Float64(),
        "distance": pl.Float64(),  # score - target
        "band": pl.String(),
        "band_low": pl.String(),  # the bands at the two ends of the interval: all three alike when the band is certain
        "band_high": pl.String(),
        "pinned": pl.Boolean(),
        "moved": pl.Boolean(),  # a coupling between Stages kept its first choice away
        "players": pl.List(PLAYER),
    }
)
LEVELS = pl.Schema(
    {
        "level": pl.String,
        "title": pl.String,
        "stages": pl.Int64,
        "target": pl.Float64,  # means, in points
        "score": pl.Float64,
        "easiest": pl.Float64,
        "hardest": pl.Float64,
        "mean_distance": pl.Float64,
        "max_distance": pl.Float64,
        "adds_low": pl.Int64,
        "adds_high": pl.Int64,
    }
)
REJECTIONS = pl.Schema(
    {
        "puzzle": pl.String,
        "board": pl.String,
        "family": pl.String,
        "number": pl.Int64,
        "round": pl.Int64,
        "cells": pl.Int64,
        "reason": pl.String,  # duplicate, excluded, unclearable, undecided, failed
        "detail": pl.String,  # of which puzzle, by which pack, what failed
        "verdict": pl.String,
        "nodes": pl.Int64,
    }
)


SCHEMAS = {"puzzles": PUZZLES, "stages": STAGES, "levels": LEVELS, "rejections": REJECTIONS}


def stored(store: Store, name: str, columns: Iterable[str]) -> pl.DataFrame:
    """One of the report tables of a run folder, with these columns at least; other versions may have had others.

    Raises:
        UserError: it is missing, damaged, or has not all of them.
    """
    table = store.read_report(name)
    path = store.path(f"reports/{name}.parquet")
    if table is None:
        raise UserError(f"{path}: missing or damaged; run again to make it")
    for column in columns:
        if table.schema.get(column) != SCHEMAS[name][column]:
            raise UserError(f"{path}: no column {column} as this version has it; run again to make it anew")
    return table


def tables(
    config: Config,
    pack: models.Pack,
    pools: Sequence[Pool],
    assembly: Assembly,
    figures: Figures,
    order: Order,
) -> dict[str, pl.DataFrame]:
    """The four report tables, by name.

    Args:
        pools: the pool of the `select` stream, then that of the `screen`.
    """
    stages = _stages(config, pack, pools[0], assembly, figures, order)
    dropped = figures.candidates.filter(pl.col("dropped").is_not_null()).rename({"dropped": "reason"})
    return {
        "puzzles": _puzzles(config, pack, pools, figures),
        "stages": stages,
        "levels": _levels(pack, stages),
        "rejections": dropped.select(list(REJECTIONS)).match_to_schema(REJECTIONS),
    }


def _puzzles(config: Config, pack: models.Pack, pools: Sequence[Pool], figures: Figures) -> pl.DataFrame:
    """Every candidate that could stand in the pack, whether it does or not."""
    used = [(stage.puzzle, stage.id) for level in pack.levels for stage in level.stages]
    table = figures.usable.join(
        pl.DataFrame(used, schema={"puzzle": pl.String, "stage": pl.String}, orient="row"),
        on="puzzle",
        how="left",
        maintain_order="left",
    )
    player = next(iter(config.score.blend))
    scored = []
    for stream, pool in zip(("select", "screen"), pools, strict=True):
        points = pl.DataFrame(
            {
                "puzzle": list(pool.puzzles),
                "scores": _lists(pool.scores / THOUSAND),
                "floor": [None] * len(pool) if pool.floor is None else _lists(pool.floor / THOUSAND),
                "median_actions": [None] * len(pool) if pool.actions is None else pool.actions,
            },
            schema={name: PUZZLES[name] for name in ("puzzle", "scores", "floor", "median_actions")},
        )
        counted = figures.streams[stream][player].unique("puzzle", keep="first").select("puzzle", "playouts")
        scored.append(points.join(counted, on="puzzle", how="inner").with_columns(pl.lit(stream).alias("stream")))
    best = pl.concat(scored).unique("puzzle", keep="first", maintain_order=True)
    return (
        table.join(best, on="puzzle", how="left", maintain_order="left").select(list(PUZZLES)).match_to_schema(PUZZLES)
    )


def _lists(values: NDArray[np.float64]) -> pl.Series:
    """A list for each row, made without a Python object for each value."""
    return pl.Series(values, dtype=pl.Array(pl.Float64, values.shape[1])).arr.to_list()


def _stages(
    config: Config, pack: models.Pack, pool: Pool, assembly: Assembly, figures: Figures, order: Order
) -> pl.DataFrame:
    """Every Stage of the pack, those of an earlier one too."""
    puzzles = {puzzle.id: puzzle for puzzle in pack.puzzles}
    extra = {
        (player, row["puzzle"]): row
        for player, table in figures.streams["report"].items()
        for row in table.iter_rows(named=True)
    }
    placed = {
        slot.id: (slot, place, number in assembly.moved)
        for number, (slot, place) in enumerate(zip(order.wanted, assembly.places, strict=True))
    }
    bands = [(band.name, band.start) for band in config.score.bands]
    rows: list[dict[str, Any]] = []
    for level in pack.levels:
        for stage in level.stages:
            puzzle, (slot, place, moved) = puzzles[stage.puzzle], placed.get(stage.id, (None, None, False))
            select = (
                pool.scores[place.row, stage.adds] / THOUSAND if place and stage.puzzle not in order.known else None
            )
            low, high = _interval(stage, config)
            rows.append(
                {
                    "stage": stage.id,
                    "level": level.id,
                    "number": len(rows) + 1,
                    "puzzle": puzzle.id,
                    "family": puzzle.family,
                    "board": puzzle.board,
                    "cells": sum(char.isdigit() for char in puzzle.board),
                    "adds": stage.adds,
                    "min_adds": puzzle.min_adds.upper,
                    "par": puzzle.par.upper if puzzle.par else None,
                    "target": stage.difficulty.target,
                    "select": select,
                    "score": stage.difficulty.score,
                    "low": low,
                    "high": high,
                    "distance": round(stage.difficulty.score - stage.difficulty.target, 3),
                    "band": stage.difficulty.band,
                    "band_low": band(round(low * THOUSAND), bands),
                    "band_high": band(round(high * THOUSAND), bands),
                    "pinned": slot is not None and slot.puzzle is not None,
                    "moved": moved,
                    "players": [
                        _player(name, counts, extra.get((name, puzzle.id), {}))
                        for name, counts in stage.difficulty.players.items()
                    ],
                }
            )
    return pl.DataFrame(rows, schema=STAGES)


def _player(name: str, counts: models.PlayerCounts, row: Mapping[str, Any]) -> dict[str, Any]:
    """How one player fared; what packs do not hold is null for Stages of an earlier one."""
    return {
        "player": name,
        "playouts": counts.playouts,
        "passed": list(counts.passed),
        "used": row.get("used"),
        "actions": row.get("actions"),
        "left": [[value / THOUSAND for value in values] for values in row["left"]] if row else None,
        "lost": [[None if v is None else v / THOUSAND for v in values] for values in row["lost"]] if row else None,
    }


def _interval(stage: models.Stage, config: Config) -> tuple[float, float]:
    """The 95% interval of a Stage's score: the players' Wilson intervals, blended as the score is."""
    ends = [0.0, 0.0]
    blend = config.score.blend
    for name, weight in blend.items():
        counts = stage.difficulty.players[name]
        low, high = wilson(counts.passed[stage.adds], counts.playouts)
        ends = [ends[0] + weight * (1 - high), ends[1] + weight * (1 - low)]
    scores = (min(HARDEST, max(0, round(HARDEST * end / sum(blend.values())))) for end in ends)
    return tuple(calibrated(score, config.score.scale) / THOUSAND for score in scores)  # type: ignore[return-value]


def _levels(pack: models.Pack, stages: pl.DataFrame) -> pl.DataFrame:
    titles = pl.DataFrame([(level.id, level.title) for level in pack.levels], schema=["level", "title"], orient="row")
    summed = stages.group_by("level", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("stages"),
        pl.col("target").mean().round(3),
        pl.col("score").mean().round(3),
        pl.col("score").min().alias("easiest"),
        pl.col("score").max().alias("hardest"),
        pl.col("distance").abs().mean().round(3).alias("mean_distance"),
        pl.col("distance").abs().max().alias("max_distance"),
        pl.col("adds").min().alias("adds_low"),
        pl.col("adds").max().alias("adds_high"),
    )
    return (
        titles.join(summed, on="level", how="left", maintain_order="left").select(list(LEVELS)).match_to_schema(LEVELS)
    )
