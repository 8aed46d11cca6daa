"""How fast and how good the players are: `make bench-players`.

    python tests/bench/players.py [--yardstick FOLDER] [--boards N] [--json FILE]

Prints, on one core: uniform playouts a second (with --yardstick FOLDER, beside the bare numba program there, in turns
on the same boards); playouts a second of every player of the panel; the seconds that the panel takes for one board,
sampled as a run does; split-half reliability of the pass rates, whether the panel is monotone, and the spread between
boards of one size. Times are of the process, so that a busy machine disturbs them little; ratios within the run are
what counts.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from results import keep

from number_match.config import Sampling
from number_match.identity import puzzle_id
from number_match.players import Player, default_panel
from number_match.rules import VEYRA_1, Board
from number_match.score import score
from number_match.simulate import Playing, simulate

SIZES = (27, 31, 36, 40, 45)
ALLOWANCES = range(6)
PLAYOUTS = 2000  # about what ± 2.5 points take at a pass rate of one half
SAMPLING = Sampling(playouts=500, most=10_000, half_width=2.5)


def some_boards(cells: int, how_many: int) -> list[Board]:
    """Random boards, the same every time."""
    rng = random.Random(cells)
    texts = ["".join(rng.choice("123456789") for _ in range(cells)) for _ in range(how_many)]
    return [Board.parse("/".join(text[at : at + 9] for at in range(0, cells, 9))) for text in texts]


def seconds(work: Callable[[], Any]) -> float:
    """The processor time of one call."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def beside_yardstick(folder: Path, boards: list[Board], adds: int, playouts: int) -> dict[str, Any]:
    """Uniform playouts here and there, in turns: their speed, and whether pass rates differ by more than chance."""
    sys.path.insert(0, str(folder))
    import roll128  # type: ignore[import-not-found]

    rays, rays128, counters = roll128.rays(), roll128.rays128(), np.zeros(4, np.int64)
    classes = [np.array([min(digit, 10 - digit) for digit in board.cells], np.uint8) for board in boards]
    uniform = Player(kind="random")
    passed = {"here": 0, "there": 0}
    took = {"here": 0.0, "there": 0.0}

    def there(turn: int, number: int) -> None:
        for at, cells in enumerate(classes):
            seed = turn * len(classes) + at + 1
            passed["there"] += roll128.playouts2(cells, adds, number, seed, rays, rays128, counters, 1)

    playings = [Playing(board, uniform, adds) for board in boards]

    def here(turn: int, number: int) -> None:
        keys = random_keys(turn, number * len(boards))
        for at, playing in enumerate(playings):
            playing.play(keys[at * number : at * number + number])

    there(0, 10)
    here(0, 10)
    counters[:] = 0
    passed["there"] = 0
    playings = [Playing(board, uniform, adds) for board in boards]
    turns = 5
    for turn in range(turns):
        took["there"] += seconds(partial(there, turn, playouts))
        took["here"] += seconds(partial(here, turn, playouts))
    passed["here"] = sum(playing.figures().passed[-1] for playing in playings)
    total = turns * playouts * len(boards)
    rate = (passed["here"] + passed["there"]) / (2 * total)
    error = (2 * rate * (1 - rate) / total) ** 0.5
    moves = int(counters[0]) / total
    return {
        "moves a playout": round(moves, 2),
        "yardstick, million moves a second": round(int(counters[0]) / took["there"] / 1e6, 1),
        "here, million moves a second": round(moves * total / took["here"] / 1e6, 1),
        "ratio": round(took["there"] / took["here"], 2),
        "pass rate here": round(passed["here"] / total, 4),
        "pass rate there": round(passed["there"] / total, 4),
        "standard errors apart": round((passed["here"] - passed["there"]) / total / error, 1) if error else 0.0,
    }


def random_keys(seed: int, how_many: int) -> NDArray[np.uint64]:
    """Keys that cost next to nothing. Those of a run are hashes, which take as long to make as the uniform player
    takes to play."""
    return np.random.default_rng(seed).integers(0, 2**64, how_many, np.uint64)


def speed_of_panel(boards: list[Board], adds: int, playouts: int) -> dict[str, int]:
    """Playouts a second of every player, keys apart."""
    rates = {}
    keys = random_keys(1, playouts)
    for name, player in default_panel().items():
        playings = [Playing(board, player, adds) for board in boards]
        playings[0].play(keys[:10])
        took = sum(seconds(partial(playing.play, keys)) for playing in playings)
        rates[name] = round(playouts * len(boards) / took)
    return rates


def panel_on_boards(boards: list[Board]) -> float:
    """The seconds that the five noticing players take for a board, as `score` samples: ± 2.5 points at 1 to 5 Adds."""
    table = pl.DataFrame({"puzzle": [puzzle_id(board) for board in boards], "board": [board.text for board in boards]})
    panel = {name: player for name, player in default_panel().items() if player.kind == "noticing"}

    def work() -> None:
        for name, player in panel.items():
            score(table, VEYRA_1, (1, 5), name, player, "select", SAMPLING, 1)

    return seconds(work) / len(boards)


def pass_rates(boards: list[Board], name: str, player: Player, playouts: range) -> NDArray[np.float64]:
    """By board and allowance."""
    counts = [
        simulate(board, player, name=name, max_adds=ALLOWANCES[-1], playouts=playouts, seed=1).passed
        for board in boards
    ]
    return np.array(counts) / len(playouts)


def quality(how_many: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A row for every size, allowance and player, and the summary."""
    rows: list[dict[str, Any]] = []
    means: dict[tuple[int, int, str], float] = {}
    for cells in SIZES:
        boards = some_boards(cells, how_many)
        for name, player in default_panel().items():
            halves = [pass_rates(boards, name, player, half) for half in halves_of(PLAYOUTS)]
            both = (halves[0] + halves[1]) / 2
            for allowance in ALLOWANCES:
                mean = float(both[:, allowance].mean())
                means[cells, allowance, name] = mean
                rows.append(
                    {
                        "cells": cells,
                        "adds": allowance,
                        "player": name,
                        "mean": round(mean, 3),
                        "spread": round(float(both[:, allowance].std(ddof=1)), 3),
                        "reliability": reliability(halves[0][:, allowance], halves[1][:, allowance]),
                    }
                )
    order = [name for name, player in default_panel().items() if player.kind == "noticing"]
    ordered, strata = 0, 0
    for cells in SIZES:
        for allowance in ALLOWANCES:
            ladder = [means[cells, allowance, name] for name in order]
            if any(ladder):
                strata += 1
                ordered += all(weaker < stronger for weaker, stronger in pairwise(ladder))
    inside = [row for row in rows if 0.15 <= row["mean"] <= 0.85]
    outside = [row["reliability"] for row in rows if not 0.15 <= row["mean"] <= 0.85 and row["reliability"] is not None]
    summary = {
        "strata with a mean pass rate of 0.15 to 0.85": len(inside),
        "their reliability, least": min(row["reliability"] for row in inside),
        "their reliability, median": float(np.median([row["reliability"] for row in inside])),
        "other strata with any spread": len(outside),
        "their reliability, least (others)": min(outside, default=None),
        "the panel is monotone in": f"{ordered} of {strata} strata",
        "spread between boards, mean": round(float(np.mean([row["spread"] for row in inside])), 3),
    }
    return rows, summary


def halves_of(playouts: int) -> Iterable[range]:
    return range(playouts // 2), range(playouts // 2, playouts)


def reliability(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """The correlation between two halves of the playouts over boards, raised to the whole (Spearman-Brown)."""
    if not first.std() or not second.std():
        return None
    r = float(np.corrcoef(first, second)[0, 1])
    return round(2 * r / (1 + r), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--yardstick", type=Path, help="the folder of the bare numba program")
    parser.add_argument("--boards", type=int, default=60, help="boards of each size for the figures of quality")
    parser.add_argument("--json", type=Path, help="also write everything to this file")
    given = parser.parse_args()
    result: dict[str, Any] = {}
    if given.yardstick:
        result["uniform playouts beside the yardstick"] = {
            f"{cells} cells, {adds} Adds": beside_yardstick(given.yardstick, some_boards(cells, 40), adds, 4000)
            for cells, adds in ((27, 2), (35, 0), (35, 4), (45, 5))
        }
    result["playouts a second, 35 cells, 4 Adds"] = speed_of_panel(some_boards(35, 40), 4, 1000)
    took = panel_on_boards(some_boards(35, 20))
    result["panel of five on one board of 35 cells, ± 2.5 points at 1 to 5 Adds, seconds"] = round(took, 3)
    result["boards a second, scored by the panel of five"] = round(1 / took, 1)
    rows, result["quality"] = quality(given.boards)
    for title, value in result.items():
        print(f"\n{title}")
        for line in (
            [f"  {key}: {figure}" for key, figure in value.items()] if isinstance(value, dict) else [f"  {value}"]
        ):
            print(line)
    with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True):
        table = pl.DataFrame(rows).filter(pl.col("mean") > 0)
        for figure in ("mean", "spread", "reliability"):
            print(f"\n{figure} of pass rates, by cells, Adds and player")
            print(table.pivot("player", index=["cells", "adds"], values=figure))
    keep(result | {"strata": rows}, given.json)


if __name__ == "__main__":
    main()
