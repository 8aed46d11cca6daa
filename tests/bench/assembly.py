"""How long assembly takes and how much memory it needs: `make bench-assembly`.

A made-up pool of 200,000 puzzles × 5 allowances, scored as real ones spread (easier with every Add, about 12 points
between boards of one size), is assembled into 2,000 Stages on a sawtooth: the shortlist for `select` playouts, then the
assignment, alone and with couplings. The figures are seconds, and the process's peak memory.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence

import numpy as np

from number_match.assemble import Assembly, Pool, assemble, shortlist, slots
from number_match.config import AssembleConfig


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


def clock() -> tuple[float, float]:
    """Wall and processor seconds."""
    return time.perf_counter(), time.process_time()


def since(begun: tuple[float, float]) -> str:
    """What has passed since: the processor's seconds say more on a shared machine."""
    wall, cpu = clock()
    return f"{wall - begun[0]:7.1f} s  (cpu {cpu - begun[1]:5.1f} s)"


def report(what: str, begun: tuple[float, float], found: Assembly) -> None:
    """One line of the table."""
    distances = [place.distance / 1000 for place in found.places if place]
    print(
        f"{what:<32}{since(begun)}  {len(found.places) - len(found.unfilled):5} filled   "
        f"mean {np.mean(distances):7.4f}   max {max(distances):7.4f}   gap {found.cost - found.bound}"
    )


def main(arguments: Sequence[str]) -> None:
    """Print the table; arguments: puzzles, Levels, Stages a Level."""
    number, levels, stages = (int(argument) for argument in arguments) if arguments else (200_000, 100, 20)
    config = AssembleConfig.model_validate(
        {
            "levels": levels,
            "stages": stages,
            "curve": {"kind": "sawtooth", "start": 10.0, "end": 70.0, "period": 10, "depth": 10.0},
            "constraints": {"near_duplicates": None},
        }
    )
    coupled = config.model_copy(
        update={"constraints": type(config.constraints)(family_in_row=3, slack=1, early_add="never")}
    )
    pool = made_up_pool(number)
    print(f"{number} puzzles × 5 allowances, {levels * stages} Stages")
    begun = clock()
    lists = shortlist(slots(config, (1, 5)), pool, 6, 10_000)
    print(f"{'shortlist of 6':<32}{since(begun)}  {len(set().union(*lists)):5} boards")
    for what, settings in (("assignment", config), ("with couplings and constraints", coupled)):
        begun = clock()
        report(what, begun, assemble(slots(settings, (1, 5)), pool, settings))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main(sys.argv[1:])
