"""How soon a command answers: `make bench-start`.

    python tests/bench/start.py [--times N] [--json FILE]

The median of N runs of each command, in processes of their own, beside a Python that does nothing. Kernels are compiled
before; what the ones that need them take is loading.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from results import Table, keep, run, show

HERE = Path(__file__).parent
PACK = HERE.parent / "packs" / "veyra.pack.json"
SMOKE = HERE.parent.parent / "configs" / "smoke.toml"
BOARD = "316372222/5516 +2"
PROGRAM = ("-m", "number_match")


def commands(out: Path) -> dict[str, Sequence[object]]:
    """What is timed; `out` is a run folder in which everything is done."""
    return {
        "python -c pass": ("-c", "pass"),
        "--help": (*PROGRAM, "--help"),
        "show BOARD": (*PROGRAM, "show", BOARD),
        "solve BOARD": (*PROGRAM, "solve", BOARD),
        "simulate BOARD": (*PROGRAM, "simulate", BOARD, "--playouts", 100),
        "verify PACK, 6 Stages": (*PROGRAM, "verify", PACK),
        "run, nothing to do": (*PROGRAM, "run", "-c", SMOKE, "-o", out, "--quiet"),
        "status DIR": (*PROGRAM, "status", out),
    }


def table(timed: Mapping[str, Sequence[object]], times: int) -> Table:
    rows: Table = []
    for name, command in timed.items():
        run(*command)
        found = [run(*command) for _ in range(times)]
        wall, cpu = (median(values) for values in zip(*found, strict=True))
        rows.append({"command": name, "wall ms": round(1000 * wall), "CPU ms": round(1000 * cpu)})
        rows[-1]["CPU, times python's"] = round(rows[-1]["CPU ms"] / rows[0]["CPU ms"], 1)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=5, metavar="N")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables = {f"start-up, median of {given.times}": table(commands(Path(folder) / "run"), given.times)}
    for title, rows in tables.items():
        show(title, rows)
    keep(tables, given.json)


if __name__ == "__main__":
    main()
