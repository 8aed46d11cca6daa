"""How long assembly takes and how much memory it needs: `make bench-assembly`.

A made-up pool of 200,000 puzzles × 5 allowances, scored as real ones spread (easier with every Add, about 12 points
between boards of one size), is assembled into 2,000 Stages on a sawtooth: the shortlist for `select` playouts, then the
assignment, alone and with couplings. The figures are seconds, and the process's peak memory.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from results import keep, show

from number_match.assemble import Assembly, Pool, assemble, shortlist, slots
from number_match.config import AssembleConfig

T = TypeVar("T")


def made_up_pool(number: int, allowances: int = 6) -> Pool:
    """A pool of so many puzzles."""
    rng = np.random.default_rng(1)
    easy = rng.normal(0, 12_000, number)[:, None]
    middle = np.array([95_000, 80_000, 62_000, 45_000, 32_000, 22_000])[:allowances]
    noise = rng.normal(0, 2_000, (number, allowances))
    scores = np.clip(middle + easy + noise, 0, 100_000).astype(np.int64)
    digits = rng.integers(49, 58, (number, 36), dtype=np.uint8)
    return Pool(
        puzzles=[f"p-{int(value):016x}0000" for value in rng.integers(0, 2**63, number)],
        boards=[row.tobytes().decode() for row in digits],
        families=rng.choice(["short", "middle", "long"], number),
        min_adds=rng.choice([0, 1, 2], number, p=[0.05, 0.93, 0.02]),
        par=rng.integers(18, 40, number),
        early=rng.random(number) < 0.1,
        scores=scores,
    )


def timed(what: str, work: Callable[[], T]) -> tuple[dict[str, Any], T]:
    """The beginning of a row, and what came out; the processor's seconds say more on a shared machine."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    seconds = {"wall s": round(time.perf_counter() - wall, 1), "CPU s": round(time.process_time() - cpu, 1)}
    return {"step": what, **seconds}, found


def quality(found: Assembly) -> dict[str, Any]:
    """The rest of a row: how many Stages, how far from their targets, in points, and how far from the bound."""
    distances = [place.distance / 1000 for place in found.places if place]
    return {
        "filled": len(distances),
        "mean": round(float(np.mean(distances)), 4),
        "max": max(distances),
        "gap": found.cost - found.bound,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--puzzles", type=int, default=200_000)
    parser.add_argument("--levels", type=int, default=100)
    parser.add_argument("--stages", type=int, default=20, help="a Level")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    given = parser.parse_args()
    config = AssembleConfig.model_validate(
        {
            "levels": given.levels,
            "stages": given.stages,
            "curve": {"kind": "sawtooth", "start": 10.0, "end": 70.0, "period": 10, "depth": 10.0},
            "constraints": {"near_duplicates": None},
        }
    )
    coupled = config.model_copy(
        update={"constraints": type(config.constraints)(family_in_row=3, slack=1, early_add="never")}
    )
    pool = made_up_pool(given.puzzles)
    row, lists = timed("shortlist of 6", lambda: shortlist(slots(config, (1, 5)), pool, 6, 10_000))
    rows = [row | dict.fromkeys(("filled", "mean", "max", "gap"))]
    for what, settings in (("assignment", config), ("with couplings and constraints", coupled)):
        row, found = timed(what, partial(assemble, slots(settings, (1, 5)), pool, settings))
        rows.append(row | quality(found))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    tables = {
        f"{given.puzzles:,} puzzles × 5 allowances into {given.levels * given.stages:,} Stages": rows,
        "pool and memory": [{"boards on shortlists": len(set().union(*lists)), "peak memory MiB": memory}],
    }
    for title, table in tables.items():
        show(title, table)
    keep(tables, given.json)


if __name__ == "__main__":
    main()
