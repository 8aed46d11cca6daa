"""Why a puzzle stands where it stands: a pack, a Stage and the run's tables come in, text for a designer goes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from number_match import models
from number_match.asked import Disagrees, asked
from number_match.assemble import Pool, Slot, alternatives
from number_match.beside import earlier
from number_match.difficulty import HARDEST, THOUSAND
from number_match.errors import UserError
from number_match.figures import facts
from number_match.simulate import wilson
from number_match.store import Store
from number_match.tables import stored
from number_match.words import counted, interval, printable

_NEAREST = 5
_COLUMNS = {
    "puzzles": "puzzle board family number round nodes min_adds_upper par_upper needs_early_add stream scores floor "
    "median_actions stage",
    "stages": "stage puzzle select score pinned moved",
}


def explain(path: Path, stage_id: str) -> str:
    """What is known about a Stage: target and result, its puzzle's way here, what bound, and the nearest alternatives.

    The alternatives and the history come from the run folder that the pack lies in, when it is one.

    Raises:
        UserError: the pack cannot be read, or has no such Stage, or not its puzzle.
    """
    pack = models.read_pack(path)
    stages = {stage.id: (level, stage) for level in pack.levels for stage in level.stages}
    if stage_id not in stages:
        ids = list(stages)
        raise UserError(f"{path}: there is no Stage {stage_id!r} in it; expected one of {ids[0]} … {ids[-1]}")
    level, stage = stages[stage_id]
    puzzle = next((puzzle for puzzle in pack.puzzles if puzzle.id == stage.puzzle), None)
    if puzzle is None:
        raise UserError(f"{path}: {stage.id}: its puzzle {stage.puzzle} is not in the pack")
    difficulty = stage.difficulty
    min_adds = interval(puzzle.min_adds.lower, puzzle.min_adds.upper)
    par = interval(puzzle.par.lower, puzzle.par.upper) if puzzle.par else "not known"
    lines = [
        f"{stage.id} of {path}, Level {level.id} “{printable(level.title)}”",
        f"  target {difficulty.target:g}, achieved {difficulty.score:g} ({difficulty.band}), "
        f"distance {difficulty.score - difficulty.target:+.3f}; allowance {stage.adds}",
        f"  puzzle {puzzle.id} {puzzle.board}, family {puzzle.family}, min Adds {min_adds}, par {par}",
        *_players(stage),
    ]
    store = Store(path.parent)
    if note := earlier(pack, store.read_record()):
        lines.insert(0, f"note: {note}; this is about that earlier pack")
    slot = _slot(pack, stage_id)
    if slot:
        lines.append(f"  asked for: {_wishes(slot)}")
    if not store.path("reports").exists():
        return "\n".join([*lines, "  no run folder beside the pack: neither history nor alternatives"])
    try:
        table, report = (stored(store, name, columns.split()) for name, columns in _COLUMNS.items())
    except UserError as error:
        return "\n".join([*lines, f"  neither history nor alternatives: {error}"])
    here = report.filter(stage=stage_id, puzzle=stage.puzzle)
    if here.height != 1:
        return "\n".join([*lines, "  the tables beside the pack are of another one: neither history nor alternatives"])
    lines += _history(pack, table, here.row(0, named=True))
    return "\n".join([*lines, *_alternatives(slot, stage, table)]) if slot else "\n".join(lines)


def _players(stage: models.Stage) -> list[str]:
    lines = []
    for name, counts in stage.difficulty.players.items():
        if stage.adds >= len(counts.passed) or counts.passed[stage.adds] > counts.playouts:
            lines.append(f"    {name:<12}counts that cannot be")
            continue
        passed, playouts = counts.passed[stage.adds], counts.playouts
        low, high = wilson(passed, playouts)
        lines.append(f"    {name:<12}{passed / playouts:7.1%}   (95%: {low:.1%} to {high:.1%})")
    return lines


def _slot(pack: models.Pack, stage_id: str) -> Slot | None:
    """The slot that the pack's assembly block describes; None without one, and for a Stage of an earlier pack."""
    try:
        order = asked(pack)
    except Disagrees:
        return None
    return next((slot for slot in order.slots if slot.id == stage_id), None) if order else None


def _wishes(slot: Slot) -> str:
    low, high = slot.adds
    wishes = [f"{low} to {high} Adds" if low < high else counted(low, "Add")]
    if slot.slack:
        wishes.append(f"{slot.slack} more than min Adds")
    if slot.families:
        wishes.append("family " + " or ".join(sorted(slot.families)))
    if slot.floor:
        wishes.append(f"the weakest player passes at least {slot.floor / THOUSAND:g}%")
    if not slot.early_add:
        wishes.append("no early Add needed")
    if slot.max_par:
        wishes.append(f"par at most {slot.max_par}")
    if slot.max_actions:
        wishes.append(f"median actions at most {slot.max_actions}")
    return ", ".join(wishes)


def _history(pack: models.Pack, table: pl.DataFrame, stage: dict[str, Any]) -> list[str]:
    """The puzzle's way from the seed to the slot."""
    found = table.filter(pl.col("puzzle") == stage["puzzle"])
    if not found.height:
        return ["  the puzzle comes from an earlier pack"]
    row = found.row(0, named=True)
    where = "the base pool" if row["round"] == 0 else f"round {row['round']} of more candidates"
    lines = [
        f"  history: candidate {row['number']} of family {row['family']} (seed {pack.generator.seed}, {where}); "
        f"clearable after {row['nodes']} nodes",
        f"    {row['stream']} {stage['select']:g} decided, report {stage['score']:g} is printed",
    ]
    if stage["pinned"]:
        lines.append("    pinned here, whatever its distance")
    if stage["moved"]:
        lines.append("    a coupling between Stages (near-duplicates, families in a row) kept the first choice away")
    return lines


def _alternatives(slot: Slot, stage: models.Stage, table: pl.DataFrame) -> list[str]:
    pool = _pool(table)
    placed = table.filter(pl.col("stage").is_not_null()).select("puzzle", "stage")
    used = {pool.row[puzzle]: where for puzzle, where in placed.iter_rows()}
    used.pop(pool.row.get(stage.puzzle, -1), None)
    others = (item for item in alternatives(slot, pool, _NEAREST + 1, used) if item.puzzle != stage.puzzle)
    streams = sorted(table["stream"].drop_nulls().unique().to_list(), reverse=True)
    lines = [f"  nearest alternatives (by {' and '.join(streams)} playouts):"]
    for item in list(others)[:_NEAREST]:
        why = item.hindered or "free; when the assembly decided it was no nearer, or had screen playouts only"
        score, distance = item.score / THOUSAND, item.distance / THOUSAND
        lines.append(f"    {item.puzzle} +{item.adds}  {score:7.3f}  {distance:6.3f} away   {why}")
    return lines


def _pool(table: pl.DataFrame) -> Pool:
    """The pool as the run's table of puzzles has it."""
    known = table.filter(pl.col("scores").is_not_null())

    def thousandths(name: str) -> NDArray[np.int64] | None:
        values = known[name].to_list()
        return None if None in values else np.rint(np.array(values, dtype=np.float64) * THOUSAND).astype(np.int64)

    scores = thousandths("scores")
    actions = known["median_actions"]
    return Pool(
        **facts(known),
        scores=np.full((0, 1), HARDEST) if scores is None else scores,
        floor=thousandths("floor"),
        actions=None if actions.null_count() else actions.to_numpy().astype(np.int64),
    )
