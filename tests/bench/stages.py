"""What each stage of a run takes, from a config to a pack: `make bench-stages`.

    python tests/bench/stages.py [--config FILE] [--workers N] [--json FILE]

Makes a pack in a folder of its own and tells, by stage, the boards that went through it, seconds, and boards a second,
as the run counts them, and what start, report and the rest take beside that. Kernels are compiled before.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from results import Table, keep, run, show

SMOKE = Path(__file__).parent.parent.parent / "configs" / "smoke.toml"


def table(config: Path, workers: int, folder: Path) -> Table:
    def words(out: Path) -> tuple[object, ...]:
        return "-m", "number_match", "run", "-c", config, "-o", out, "--quiet", "--workers", workers

    run(*words(folder / "warm-up"))
    wall, cpu = run(*words(folder / "run"))
    record = json.loads((folder / "run" / "run.json").read_text(encoding="utf-8"))
    rows: Table = []
    for name, done in record["stages"].items():
        seconds = done["seconds"]
        rows.append(
            {
                "stage": name,
                "boards": done["boards"],
                "wall s": round(seconds, 2),
                "CPU s": round(done["cpu_seconds"], 2),
                "boards a second": round(done["boards"] / seconds),
                "share of the wall": f"{seconds / wall:.0%}",
            }
        )
    rest = wall - sum(done["seconds"] for done in record["stages"].values())
    rows.append(dict.fromkeys(rows[0]) | {"stage": "start, report", "wall s": round(rest, 2)})
    rows[-1]["share of the wall"] = f"{rest / wall:.0%}"
    candidates = record["stages"]["generate"]["boards"]
    rows.append(
        {
            "stage": "whole run",
            "boards": candidates,
            "wall s": round(wall, 2),
            "CPU s": round(cpu, 2),
            "boards a second": round(candidates / wall),
            "share of the wall": "100%",
        }
    )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--config", type=Path, default=SMOKE, metavar="FILE")
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables = {f"stages of {given.config.name}": table(given.config, given.workers, Path(folder))}
    for title, rows in tables.items():
        show(title, rows)
    keep(tables, given.json)


if __name__ == "__main__":
    main()
