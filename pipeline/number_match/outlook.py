"""What people read about an assembly: the pool against the curve, what is lacking, what came out. Text goes out.

Also what more candidates should be like, which follows from what is lacking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from number_match.assemble import Assembly, Chooser, Pool, Slot, fits, lacking
from number_match.difficulty import HARDEST, THOUSAND
from number_match.words import counted

_BINS = 20


def chart(wanted: Sequence[Slot], pool: Pool) -> str:
    """The pool against the curve: for each span of five points the Stages that want it and the puzzles that can
    stand there."""
    step = HARDEST // _BINS
    chooser = Chooser(pool)
    stages = np.bincount([min(slot.target // step, _BINS - 1) for slot in wanted], minlength=_BINS)
    lines = ["pool against curve (puzzles that can stand within 2.5 points of the middle, for Stages that want it)"]
    scale = max(1.0, *(float(n) for n in stages))
    for number in range(_BINS):
        slots = [slot for slot in wanted if min(slot.target // step, _BINS - 1) == number and slot.puzzle is None]
        if not slots:
            continue
        rows: set[int] = set()
        for middle in {replace(slot, id="", level=0, stage=0, target=number * step + step // 2) for slot in slots}:
            rows.update(chooser.nearest(middle, len(pool), step // 2).rows.tolist())
        thin = "  THIN" if len(rows) < 3 * len(slots) else ""
        bar = "#" * max(1, round(24 * len(slots) / scale))
        lines.append(
            f"  {number * 5:3}-{number * 5 + 5:<3} {bar:<24} {_column(len(slots), 'Stage')} "
            f"{_column(len(rows), 'puzzle')}{thin}".rstrip()
        )
    return "\n".join(lines) if len(lines) > 1 else "pool against curve: every Stage has its puzzle already"


def _column(number: int, noun: str) -> str:
    """`words.counted`, numbers below numbers."""
    return f"{number:6} {noun if number == 1 else f'{noun}s':<{len(noun) + 1}}"


def unfilled_table(
    wanted: Sequence[Slot], pool: Pool, empty: Sequence[int], tolerance: int, *, at_least: bool = False
) -> str:
    """The Stages that stay empty: target, nearest candidate, and the setting that would have to give.

    `at_least` says that others may stay empty too: these alone are known to.
    """
    lines = [
        f"the pack cannot be filled: {'at least ' if at_least else ''}{len(empty)} of {counted(len(wanted), 'Stage')} "
        f"{'stays' if len(empty) == 1 else 'stay'} empty (tolerance ±{tolerance / THOUSAND:g} points)",
        f"  {'Stage':<14}{'target':>8}  {'nearest candidate':<36}what would have to give",
    ]
    for number in empty[:40]:
        slot = wanted[number]
        nearest, setting = lacking(slot, pool, tolerance)
        text = f"{nearest.puzzle} +{nearest.adds} at {nearest.score / THOUSAND:.1f}" if nearest else "none"
        lines.append(f"  {slot.id:<14}{slot.target / THOUSAND:8.1f}  {text:<36}{setting}")
    if len(empty) > 40:
        lines.append(f"  and {len(empty) - 40} more")
    return "\n".join(lines)


def unreachable(wanted: Sequence[Slot], pool: Pool, tolerance: int) -> list[int]:
    """Slots so far from every puzzle of the pool that more candidates of the same kinds are no hope: over 4 tolerances,
    and over 10 points. A pool without puzzles tells nothing.
    """
    if not len(pool):
        return []
    hopeless = max(4 * tolerance, 10 * THOUSAND)
    chooser = Chooser(pool)
    found = []
    for number, slot in enumerate(wanted):
        distances = chooser.nearest(slot, 1).distances
        if not len(distances) or (slot.puzzle is None and int(distances.min()) > hopeless):
            found.append(number)
    return found


def aims(
    slots: Sequence[Slot], pool: Pool, usable: pl.DataFrame, kinds: Sequence[tuple[str, int]], tolerance: int
) -> dict[tuple[str, int], int]:
    """How many in a million candidates of each (family, cells) would do for the empty slots, from what the pool has
    of it.

    A kind of which there are few is given the benefit of the doubt: one hit more is assumed than was seen, in two
    boards more.
    """
    cells = dict(usable.select("puzzle", "cells").iter_rows())
    kind_of = [(str(family), cells.get(puzzle, 0)) for puzzle, family in zip(pool.puzzles, pool.families, strict=True)]
    total: dict[tuple[str, int], int] = dict.fromkeys(kinds, 0)
    for kind in kind_of:
        if kind in total:
            total[kind] += 1
    weights: dict[tuple[str, int], int] = dict.fromkeys(kinds, 0)
    for slot in slots:
        good = np.zeros(len(pool), dtype=bool)
        for adds in range(slot.adds[0], slot.adds[1] + 1):
            near = np.abs(pool.scores[:, adds] - slot.target) <= tolerance
            good |= near & np.logical_and.reduce(list(fits(slot, pool, adds).values()))
        hits: dict[tuple[str, int], int] = {}
        for row in np.flatnonzero(good):
            hits[kind_of[row]] = hits.get(kind_of[row], 0) + 1
        for kind in kinds:
            if slot.families is None or kind[0] in slot.families:
                weights[kind] += (hits.get(kind, 0) * 1_000_000 + 500_000) // (total[kind] + 1)
    return weights


def facts(stages: pl.DataFrame, usable: int, candidates: int, assembly: Assembly, tolerance: float) -> dict[str, Any]:
    """The figures of the summary, for run.json too; `tolerance` in points."""
    distance = stages["distance"].abs()
    return {
        "candidates": candidates,
        "usable": usable,
        "stages": stages.height,
        "mean_distance": round(float(distance.mean() or 0), 3),  # type: ignore[arg-type]
        "max_distance": float(distance.max() or 0),  # type: ignore[arg-type]
        "within_2_5": int((distance <= 2.5).sum()),
        "within_5": int((distance <= 5).sum()),
        "tolerance": tolerance,
        "beyond_tolerance": int((distance > tolerance).sum()),
        "cost": assembly.cost,
        "bound": assembly.bound,
        "gap": round((assembly.cost - assembly.bound) / max(assembly.bound, 1), 6),
        "method": assembly.method,
    }


def summary(found: Mapping[str, Any], where: object) -> str:
    """What came out, at the end of a run."""
    stages, beyond = found["stages"], found["beyond_tolerance"]
    kept = f"{found['tolerance']:g}, to which `select` playouts keep"
    chance = f"  {counted(beyond, 'Stage')} beyond the tolerance of {kept}\n" if beyond else ""
    return (
        f"{where}: {counted(stages, 'Stage')} from {found['usable']:,} usable of "
        f"{counted(found['candidates'], 'candidate')}\n"
        f"  distance to target on report playouts: mean {found['mean_distance']:.2f}, "
        f"maximum {found['max_distance']:.2f}; "
        f"{found['within_2_5']} of {stages} within 2.5 points, {found['within_5']} within 5\n"
        f"{chance}"
        f"  optimality gap {found['gap']:.4%} ({found['method']})"
    )
