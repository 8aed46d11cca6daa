"""What more workers and more candidates cost: `make bench-scaling`.

    python tests/bench/scaling.py [--candidates N ...] [--workers N ...] [--json FILE]

Runs generate, validate and score of `scaling.toml` in a process of its own for each number of candidates and of
workers, and tells of it: wall seconds; CPU seconds of all its processes together, and of them the parent's; the peak
of resident memory of the parent and of the largest worker. Kernels are compiled before, and not counted. The figures
that count are ratios: CPU beside that of the first number of workers, the parent's share, memory beside that of the
first number of candidates.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import psutil
from results import Table, keep, show

CONFIG = Path(__file__).with_name("scaling.toml")
STAGES = ("generate", "validate", "score")
EVERY = 0.25  # seconds between two looks at memory


def peak(process: psutil.Process) -> int:
    """The most memory that a process has had resident so far, in KiB; 0 when it is gone."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)


def run(candidates: int, workers: int, out: Path) -> dict[str, Any]:
    """One run to its end, watched from outside."""
    words = ["score", "-c", str(CONFIG), "-o", str(out), "--quiet", "--workers", str(workers)]
    words += ["--set", f"generate.candidates={candidates}"]
    begun = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", "number_match", *words]) as running:
        parent = psutil.Process(running.pid)
        peaks = {"parent": 0, "worker": 0}
        # the end is awaited without taking it, so that the times of the ended process can still be read
        while os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            peaks["parent"] = max(peaks["parent"], peak(parent))
            peaks["worker"] = max(peaks["worker"], *map(peak, parent.children(recursive=True)), 0)
            time.sleep(EVERY)
        wall = time.perf_counter() - begun
        times = parent.cpu_times()
    if running.returncode:
        raise SystemExit(f"{shlex.join(['number-match', *words])} ended with {running.returncode}")
    own, all_of_it = times.user + times.system, sum(times[:4])
    return {
        "candidates": candidates,
        "workers": workers,
        "wall s": round(wall, 1),
        "CPU s": round(all_of_it, 1),
        "of it parent s": round(own, 1),
        "parent's share": f"{own / all_of_it:.1%}",
        "parent MiB": peaks["parent"] >> 10,
        "worker MiB": peaks["worker"] >> 10,
        "boards a CPU second": round(candidates / all_of_it),
    }


def stages(record: Path, candidates: int, workers: int) -> Table:
    """Wall and CPU seconds by stage, as the run itself counts them."""
    done = json.loads(record.read_text(encoding="utf-8"))["stages"]
    return [
        {
            "candidates": candidates,
            "workers": workers,
            "stage": name,
            "boards": done[name]["boards"],
            "wall s": round(done[name]["seconds"], 1),
            "workers' CPU s": round(done[name]["cpu_seconds"], 1),
            "boards a CPU second": round(done[name]["boards"] / done[name]["cpu_seconds"]),
        }
        for name in STAGES
    ]


def digest(out: Path) -> str:
    """sha256 of all shards."""
    found = sha256()
    for path in sorted(out.glob("*/*.parquet")):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def measured(sizes: list[int], teams: list[int]) -> dict[str, Table]:
    """The tables of all these runs."""
    rows: Table = []
    by_stage: Table = []
    with tempfile.TemporaryDirectory() as folder:
        run(120, 1, Path(folder) / "warm-up")
        for candidates in sizes:
            digests = set()
            first = len(rows)
            for workers in teams:
                out = Path(folder) / f"{candidates}-{workers}"
                rows.append(run(candidates, workers, out))
                rows[-1]["CPU, ratio"] = round(rows[-1]["CPU s"] / rows[first]["CPU s"], 3)
                place = len(rows) - 1 - first
                for who in ("parent", "worker"):
                    rows[-1][f"{who} MiB, ratio"] = round(rows[-1][f"{who} MiB"] / rows[place][f"{who} MiB"], 2)
                by_stage += stages(out / "run.json", candidates, workers)
                digests.add(digest(out))
            if len(digests) > 1:
                raise SystemExit(f"{candidates} candidates: shards differ with the number of workers")
    return {"generate, validate and score": rows, "by stage": by_stage}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--candidates", type=int, nargs="+", default=[20_000], metavar="N")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--json", type=Path, help="also write the tables to this file")
    given = parser.parse_args()
    tables = measured(given.candidates, given.workers)
    for title, rows in tables.items():
        show(title, rows)
    keep(tables, given.json)


if __name__ == "__main__":
    main()
