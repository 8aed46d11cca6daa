"""What the benchmarks have in common: commands are timed, tables of figures are shown, and written as JSON."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Table = list[dict[str, Any]]


def show(title: str, rows: Table) -> None:
    """Print a table, columns as the first row has them; None is shown as a dash."""
    print(f"\n{title}\n")
    columns = list(rows[0])
    cells = [columns, *([_text(row[name]) for name in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)), flush=True)


def _text(value: Any) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def keep(tables: Mapping[str, Any], path: Path | None) -> None:
    """Write tables as JSON when a file was asked for."""
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def run(*command: object) -> tuple[float, float]:
    """Wall and CPU seconds, of all its processes, of a command that ends well and whose output is not wanted.

    Raises:
        SystemExit: it does not end well.
    """
    begun = time.perf_counter()
    with subprocess.Popen([sys.executable, *map(str, command)], stdout=subprocess.DEVNULL) as running:
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise SystemExit(f"{shlex.join(map(str, command))} ended with {running.returncode}")
    return time.perf_counter() - begun, used.ru_utime + used.ru_stime
