"""All benchmarks, each small enough that the whole takes some ten minutes: `make bench`.

    python tests/bench/everything.py FILE

Prints their tables, and writes them to the JSON file FILE together with what they ran on.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from results import keep

from number_match import __version__

PARTS: dict[str, tuple[str, ...]] = {
    "start": (),
    "stages": (),
    "solver": ("--boards", "100"),
    "players": ("--boards", "20"),
    "assembly": (),
    "scaling": ("--candidates", "20000"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE")
    given = parser.parse_args()
    result: dict[str, Any] = {
        "version": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {len(os.sched_getaffinity(0))} cores",
        "load before": round(os.getloadavg()[0], 2),
    }
    begun = time.perf_counter()
    for name, arguments in PARTS.items():
        print(f"\n{name}: {' '.join((f'{name}.py', *arguments))}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "tables.json"
            script = Path(__file__).with_name(f"{name}.py")
            subprocess.run([sys.executable, str(script), *arguments, "--json", str(file)], check=True)
            result[name] = json.loads(file.read_text(encoding="utf-8"))
    result["seconds"] = round(time.perf_counter() - begun)
    result["load after"] = round(os.getloadavg()[0], 2)
    keep(result, given.file)
    print(f"\n{given.file}: all of this as JSON, {result['seconds']} s; load {result['load after']} at the end")


if __name__ == "__main__":
    main()
