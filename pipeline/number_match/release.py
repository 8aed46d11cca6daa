"""The release: an assembly and all figures come in, the pack goes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import polars as pl

from number_match import __version__, models
from number_match.assemble import Assembly, Pool, Slot, level_ids
from number_match.config import Config
from number_match.difficulty import THOUSAND, band, score
from number_match.figures import Figures
from number_match.order import Order, scoring_block
from number_match.solve import SOLVER_BEHAVIOUR

GENERATOR = "number-match-pipeline"
Counts = Mapping[str, tuple[Sequence[int], int]]  # by player: passed[a], playouts


def build(
    config: Config,
    pool: Pool,
    assembly: Assembly,
    figures: Figures,
    order: Order,
) -> models.Pack:
    """The pack, sealed. Every slot of `order` is filled, and `figures` has the report stream of every new puzzle."""
    chosen = [pool.puzzles[place.row] for place in assembly.places if place]
    usable = figures.usable.filter(pl.col("puzzle").is_in(chosen))
    rows = {row["puzzle"]: row for row in usable.iter_rows(named=True)}
    reports = _reports(figures)
    puzzles: list[models.Puzzle] = list(order.before.puzzles) if order.before else []
    stages: list[tuple[Slot, models.Stage]] = []
    for slot, place in zip(order.wanted, assembly.places, strict=True):
        assert place is not None
        name = pool.puzzles[place.row]
        if known := order.known.get(name):
            puzzles.append(known.puzzle)
            kept = known.stage.id == slot.id and known.stage.adds == place.adds
            same = kept and round(known.stage.difficulty.target * THOUSAND) == slot.target
            counts = {player: (c.passed, c.playouts) for player, c in known.stage.difficulty.players.items()}
            stage = known.stage if same else _stage(config, slot, place.adds, name, counts, known.stage.solution)
        else:
            row = rows[name]
            puzzles.append(_puzzle(row))
            stage = _stage(config, slot, place.adds, name, reports[name], row["solution"].split())
        stages.append((slot, stage))
    levels = list(order.before.levels) if order.before else []
    before = len(levels)
    names = level_ids(config.assemble, before)
    titles = {level.level: level.title for level in config.assemble.level if level.title}
    for number, group in groupby(stages, key=lambda item: item[0].level):
        position = number - before
        title = titles.get(position, f"Level {number}")
        levels.append(models.Level(id=names[position - 1], title=title, stages=tuple(stage for _, stage in group)))
    earlier = order.before or order.old
    version = max(config.pack.version, earlier.pack_version + 1) if earlier else config.pack.version
    withdrawn = {*config.assemble.ban, *(earlier.withdrawn if earlier else ())}
    pack = models.Pack(
        format="number-match-pack",
        format_version=models.FORMAT_VERSION,
        pack_version=version,
        pack_id=config.pack.id,
        title=config.pack.title,
        content_hash=models.UNSEALED,
        ruleset=models.RulesetRecord.of(config.rules.parsed),
        generator=models.Generator(name=GENERATOR, version=__version__, config_hash=config.hash(), seed=config.seed),
        solver=models.SolverStamp(
            behaviour=SOLVER_BEHAVIOUR,
            node_budget=config.validation.node_budget,
            memory_mib=config.validation.memory_mib,
        ),
        scoring=scoring_block(config),
        assembly=models.Assembly.model_validate(_assembly_block(config, order)),
        withdrawn=tuple(sorted(withdrawn)),
        puzzles=tuple(puzzles),
        levels=tuple(levels),
    )
    return models.seal(pack)


def _assembly_block(config: Config, order: Order) -> dict[str, Any]:
    """What the assembly was asked for: `[assemble]` without the files that it names; how many Levels stood before."""
    block = config.assemble.model_dump(
        mode="json", exclude_none=True, exclude={"exclude", "append", "keep", "topup", "ban"}
    )
    if order.before:
        block |= {"levels_before": len(order.before.levels), "extends": order.before.content_hash}
    if order.old:
        block["changes"] = order.old.content_hash
    return block | {"adds": list(config.assemble.adds or config.rules.adds)}


def _puzzle(row: Mapping[str, Any]) -> models.Puzzle:
    par = None
    if row["par_lower"] is not None and row["par_upper"] is not None:
        par = models.Interval(lower=row["par_lower"], upper=row["par_upper"])
    return models.Puzzle(
        id=row["puzzle"],
        board=row["board"],
        canonical=row["canonical"],
        min_adds=models.Interval(lower=row["min_adds_lower"], upper=row["min_adds_upper"]),
        par=par,
        family=row["family"],
    )


def _stage(config: Config, slot: Slot, adds: int, puzzle: str, counts: Counts, solution: Sequence[str]) -> models.Stage:
    value = score(counts, adds, config.score.blend, config.score.scale)
    difficulty = models.Difficulty(
        score=value / THOUSAND,
        band=band(value, [(band.name, band.start) for band in config.score.bands]),
        target=slot.target / THOUSAND,
        players={
            name: models.PlayerCounts(passed=tuple(passed), playouts=playouts)
            for name, (passed, playouts) in counts.items()
        },
    )
    return models.Stage(id=slot.id, puzzle=puzzle, adds=adds, difficulty=difficulty, solution=tuple(solution))


def _reports(figures: Figures) -> dict[str, dict[str, tuple[list[int], int]]]:
    """The report counts of each puzzle, by player in the order of the panel."""
    found: dict[str, dict[str, tuple[list[int], int]]] = {}
    for player, table in figures.streams["report"].items():
        for puzzle, passed, playouts in table.select("puzzle", "passed", "playouts").iter_rows():
            found.setdefault(puzzle, {})[player] = passed, playouts
    return found
