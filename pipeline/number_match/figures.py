"""Everything that is stored about a run's candidates, put together: shards come in, one table and pools for assembly
go out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from number_match.assemble import Pool
from number_match.config import Config
from number_match.difficulty import HARDEST, blended, failed
from number_match.order import Order

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Figures:
    """What is known about every candidate.

    `candidates` has a row for each, in the order in which they were asked for, with `verdict` and bounds, and
    `dropped` and `detail`: why it cannot stand in the pack (null when it can). `streams` has a table of counts for
    each stream and player.
    """

    candidates: pl.DataFrame
    streams: Mapping[str, Mapping[str, pl.DataFrame]]

    @classmethod
    def of(
        cls,
        candidates: Sequence[pl.DataFrame],
        verdicts: Sequence[pl.DataFrame],
        screens: Mapping[str, Sequence[pl.DataFrame]],
        order: Order,
    ) -> Figures:
        """Put shards together: of candidates that are equal up to renaming classes the first one counts."""
        if not candidates:  # a pool that is all from an earlier pack, or to come from rounds of more candidates
            from number_match import generate, score, validate

            candidates = [generate.SCHEMA.to_frame().with_columns(pl.lit(0, pl.Int64).alias("round"))]
            verdicts = [validate.SCHEMA.to_frame()]
            screens = {player: [score.SCHEMA.to_frame()] for player in screens}
        every = pl.concat(candidates)
        firsts = every.unique("canonical", keep="first", maintain_order=True).select(
            "canonical", first="puzzle", of="family", at="number"
        )
        joined = every.join(firsts, on="canonical", how="left", maintain_order="left").join(
            pl.concat(verdicts).drop("puzzle", "board"), on=["family", "number"], how="left", maintain_order="left"
        )
        for names, key, column in ((order.excluded, "canonical", "why"), (order.excluded_ids, "puzzle", "why_id")):
            reasons = pl.DataFrame(list(names.items()), schema={key: pl.String, column: pl.String}, orient="row")
            joined = joined.join(reasons, on=key, how="left", maintain_order="left")
        twin = (pl.col("of") != pl.col("family")) | (pl.col("at") != pl.col("number"))
        why = pl.coalesce("why", "why_id")
        dropped = (
            pl.when(twin)
            .then(pl.lit("duplicate"))
            .when(why.is_not_null())
            .then(pl.lit("excluded"))
            .when(pl.col("verdict") != "clearable")
            .then(pl.col("verdict"))
        )
        detail = pl.when(twin).then(pl.col("first")).when(why.is_not_null()).then(why).otherwise(pl.col("reason"))
        table = joined.with_columns(dropped.alias("dropped"), detail.alias("detail"))
        table = table.drop("first", "of", "at", "why", "why_id", "reason")
        return cls(table, {"screen": {player: pl.concat(tables) for player, tables in screens.items()}})

    @property
    def usable(self) -> pl.DataFrame:
        """The candidates that can stand in the pack."""
        return self.candidates.filter(pl.col("dropped").is_null())

    def with_stream(self, stream: str, tables: Mapping[str, pl.DataFrame]) -> Figures:
        """The same with another stream's figures."""
        return replace(self, streams={**self.streams, stream: tables})


def counts_of(table: pl.DataFrame, puzzles: pl.DataFrame, allowances: int) -> tuple[Ints, Ints]:
    """passed (n, allowances) and playouts (n,) for each row of `puzzles` (column `puzzle`), all of which `table`
    has."""
    rows = puzzles.select("puzzle").join(
        table.unique("puzzle", keep="first"), on="puzzle", how="left", maintain_order="left"
    )
    passed = rows["passed"].list.explode().to_numpy().reshape(len(rows), allowances)
    return passed.astype(np.int64), rows["playouts"].to_numpy().astype(np.int64)


def facts(puzzles: pl.DataFrame) -> dict[str, Any]:
    """What a pool holds of each puzzle besides scores: the fields of `Pool`, from rows of candidates."""
    return {
        "puzzles": puzzles["puzzle"].to_list(),
        "boards": puzzles["board"].to_list(),
        "families": puzzles["family"].to_numpy().astype(np.str_),
        "min_adds": puzzles["min_adds_upper"].to_numpy().astype(np.int64),
        "par": puzzles["par_upper"].fill_null(2**31).to_numpy().astype(np.int64),
        "early": puzzles["needs_early_add"].fill_null(True).to_numpy().astype(bool),
    }


def pool(figures: Figures, config: Config, order: Order, players: Sequence[str], stream: str) -> Pool:
    """The puzzles that have this stream's figures, by puzzle id, with the ones that stand by the word of an earlier
    pack.

    Args:
        players: those whose figures decide, all of which the stream has.
    """
    allowances = config.rules.max_adds + 1
    tables = figures.streams[stream]
    score = config.score
    have = figures.usable.filter(~pl.col("puzzle").is_in(list(order.known)))
    for player in players:
        have = have.join(tables[player].select("puzzle").unique(), on="puzzle", how="semi")
    have = have.sort("puzzle")
    each: dict[str, Ints] = {}
    for player in players:
        passed, playouts = counts_of(tables[player], have, allowances)
        each[player] = failed(passed, playouts[:, None])
    blend = score.blend
    scores = blended([each[name] for name in blend], list(blend.values()), score.scale)
    floor_player = config.assemble.constraints.floor_player or score.weakest
    actions = None
    if config.assemble.constraints.max_actions is not None:
        table = tables[score.reference if score.reference in tables else players[0]].unique("puzzle", keep="first")
        medians = have.select("puzzle").join(table, on="puzzle", how="left", maintain_order="left")["actions"]
        actions = medians.list.get(2, null_on_oob=True).fill_null(-1).to_numpy().astype(np.int64)
    made = Pool(
        **facts(have),
        scores=scores.astype(np.int64),
        floor=HARDEST - each[floor_player] if floor_player in each else None,
        actions=actions,
        reserved=order.reserved,
    )
    return _with_known(made, config, order) if order.known else made


def _with_known(made: Pool, config: Config, order: Order) -> Pool:
    """The pool with the puzzles of an earlier pack that stand in fixed slots, scored by that pack's counts."""
    known = [order.known[name] for name in sorted(order.known)]
    allowances = config.rules.max_adds + 1
    scores = np.full((len(known), allowances), -1, dtype=np.int64)
    for row, item in enumerate(known):
        players = item.stage.difficulty.players
        for adds in range(min(allowances, *(len(counts.passed) for counts in players.values()))):
            each = [failed(players[name].passed[adds], players[name].playouts) for name in config.score.blend]
            scores[row, adds] = blended(each, list(config.score.blend.values()), config.score.scale)
    zeros = np.zeros(len(known), dtype=np.int64)
    return replace(
        made,
        puzzles=[*made.puzzles, *(item.puzzle.id for item in known)],
        boards=[*made.boards, *(item.puzzle.board for item in known)],
        families=np.append(made.families, [item.puzzle.family for item in known]),
        min_adds=np.append(made.min_adds, [item.puzzle.min_adds.upper for item in known]),
        par=np.append(made.par, zeros),
        early=np.append(made.early, zeros.astype(bool)),
        scores=np.vstack([made.scores, scores]),
        floor=None if made.floor is None else np.vstack([made.floor, np.full_like(scores, HARDEST)]),
        actions=None if made.actions is None else np.append(made.actions, zeros),
    )
