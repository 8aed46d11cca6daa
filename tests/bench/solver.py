"""How strong and how fast the solver is: `make bench-solver`.

    python tests/bench/solver.py [--yardstick FOLDER] [--boards N] [--json FILE]

Four tables, on one core, of random boards that are the same every time:

1. no Add, even class counts: verdicts and time by size, at 1M nodes a board. With --yardstick FOLDER the bare programs
   there decide the same boards in the same run: `search` (built from search.cpp) and numba/search.py (up to 64 cells),
   and the ratio of times is what counts;
2. allowance 3: how often min Adds is exact, and boards a second;
3. par: how often its bounds meet, and the time;
4. proofs: for how many of the boards that nothing clears with 1 or 2 Adds a second is enough to prove it.

Times are of the process, so that a busy machine disturbs them little.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from results import Table, keep, show
from tqdm import tqdm

from number_match.kernels import prepare
from number_match.rules import VEYRA_1, Board, Ruleset, class_counts
from number_match.solve import SolveResult, solve

EVEN_SIZES = (18, 24, 30, 36, 40, 44, 54, 63, 72, 81, 90)
BUDGET = 1_000_000


def random_boards(cells: int, how_many: int, *, even: bool = False) -> list[Board]:
    """Random boards on nine columns, the same every time; `even`: with an even count of every class."""
    rng = random.Random(cells)
    boards: list[Board] = []
    while len(boards) < how_many:
        board = Board(tuple(rng.randint(1, 9) for _ in range(cells)), 0, VEYRA_1)
        if not even or not any(count % 2 for count in class_counts(board)):
            boards.append(board)
    return boards


def timed(boards: Sequence[Board], work: Callable[[Board], SolveResult]) -> tuple[list[SolveResult], list[float]]:
    """The answers, and the processor seconds of each."""
    results, seconds = [], []
    for board in tqdm(boards, leave=False, disable=None):
        begun = time.process_time()
        results.append(work(board))
        seconds.append(time.process_time() - begun)
    return results, seconds


def quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def yardstick(command: list[str], boards: Sequence[Board]) -> dict[str, float] | None:
    """What a bare program prints of these boards: undecided, and its own seconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"{board.text}\n" for board in boards))
        file.flush()
        run = subprocess.run([*command, file.name, str(BUDGET)], capture_output=True, text=True, check=False)
    if run.returncode:
        return None
    words = run.stdout.split()
    return {"undecided": int(words[words.index("undecided") + 1]), "seconds": float(words[words.index("seconds") + 1])}


def without_adds(how_many: int, folder: Path | None) -> Table:
    rows: Table = []
    for cells in EVEN_SIZES:
        # an odd number of cells cannot be even in every class: the size below it
        boards = random_boards(cells - cells % 2, how_many, even=True)
        results, seconds = timed(boards, lambda board: solve(board, node_budget=BUDGET))
        verdicts = [result.verdict for result in results]
        row: dict[str, Any] = {
            "cells": cells - cells % 2,
            "clearable": verdicts.count("clearable"),
            "unclearable": verdicts.count("unclearable"),
            "undecided": verdicts.count("undecided"),
            "nodes": sum(result.nodes for result in results),
            "seconds": round(sum(seconds), 3),
        }
        if folder is not None:
            cpp = yardstick([str(folder / "search")], boards) if (folder / "search").exists() else None
            bare = yardstick([sys.executable, str(folder / "numba" / "search.py")], boards) if cells <= 64 else None
            for name, other in (("numba", bare), ("c++", cpp)):
                row[f"{name} undecided"] = None if other is None else other["undecided"]
                row[f"times {name}"] = None if other is None else round(sum(seconds) / other["seconds"], 2)
        rows.append(row)
    return rows


def with_adds(how_many: int) -> Table:
    rows: Table = []
    for cells in (27, 35, 45):
        boards = [board.with_adds(3) for board in random_boards(cells, how_many)]
        results, seconds = timed(boards, lambda board: solve(board, node_budget=BUDGET, verdict_only=True))
        exact = sum(result.min_adds.decided for result in results)
        rows.append(
            {
                "cells": cells,
                "min Adds exact": f"{100 * exact / how_many:.1f}%",
                "boards a second": round(how_many / sum(seconds)),
                "median ms": round(1000 * quantile(seconds, 0.5), 3),
                "99th percentile ms": round(1000 * quantile(seconds, 0.99), 2),
            }
        )
    return rows


def par(how_many: int) -> Table:
    rows: Table = []
    for cells in (27, 35, 45):
        boards = [board.with_adds(3) for board in random_boards(cells, how_many)]
        results, seconds = timed(boards, lambda board: solve(board, node_budget=BUDGET))
        exact = sum(result.par is not None and result.par.decided for result in results)
        rows.append(
            {
                "cells": cells,
                "par exact": f"{100 * exact / how_many:.1f}%",
                "seconds for 1,000": round(1000 * sum(seconds) / how_many, 1),
                "median ms": round(1000 * quantile(seconds, 0.5), 2),
            }
        )
    return rows


def proofs(how_many: int) -> Table:
    """The random boards that nothing was found to clear: for how many of them a second is enough to prove it.

    On nine columns hardly a board beyond 7 cells withstands an Add, so the poorer rulesets are the test.
    """
    rows: Table = []
    for settings in ("veyra-1", "diagonal=false", "column=false,diagonal=false"):
        for adds, sizes in ((1, (6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32)), (2, (5, 6, 7, 8, 9, 10, 12))):
            for cells in sizes:
                ruleset = Ruleset.parse(settings)
                boards = [replace(board, adds=adds, ruleset=ruleset) for board in random_boards(cells, how_many)]
                results, seconds = timed(boards, lambda board: solve(board, node_budget=BUDGET, verdict_only=True))
                left = [k for k, result in enumerate(results) if result.verdict != "clearable"]
                proved = sum(results[k].verdict == "unclearable" and seconds[k] <= 1 for k in left)
                rows.append(
                    {
                        "ruleset": settings,
                        "Adds": adds,
                        "cells": cells,
                        "clearable": how_many - len(left),
                        "proved within a second": proved,
                        "open after that": len(left) - proved,
                        "median ms": round(1000 * quantile(seconds, 0.5), 2),
                    }
                )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="How strong and how fast the solver is.")
    parser.add_argument("--yardstick", type=Path, help="folder with the bare programs")
    parser.add_argument("--boards", type=int, default=1000, help="boards a size")
    parser.add_argument("--json", type=Path, help="write the tables here as well")
    options = parser.parse_args()
    prepare(["adds"], print)
    for adds in (0, 1, 2):  # whatever is loaded once is not measured
        for cells in (20, 80, 140):
            for board in random_boards(cells, 50):
                solve(board.with_adds(adds), node_budget=1000)
    tables = {
        "No Add, even class counts, 1M nodes a board": without_adds(options.boards, options.yardstick),
        "Allowance 3: min Adds": with_adds(options.boards),
        "Allowance 3: par": par(max(options.boards // 5, 1)),
        "Proofs with Adds": proofs(max(options.boards // 10, 1)),
    }
    for title, rows in tables.items():
        show(title, rows)
    keep(tables, options.json)


if __name__ == "__main__":
    main()
