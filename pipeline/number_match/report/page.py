"""The contents of a run folder and its charts come in, the HTML page goes out. All words stand in page.html."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from number_match.pages import COLOURS, render, source
from number_match.report.charts import USED, Picture
from number_match.report.folder import RunFolder
from number_match.rules import Board, Ruleset

FAR = 5
"""Stages further from their target than this, in points, are marked."""


def page(run: RunFolder, pictures: Iterable[Picture]) -> str:
    """The whole page."""
    ruleset = run.pack.ruleset.rules()
    stages = [_stage(row, ruleset) for row in run.stages.iter_rows(named=True)]
    return render(
        source(__package__, "page.html"),
        style=source(__package__, "style.css") + _recoloured(),
        script=source(__package__, "report.js"),
        pack=run.pack,
        settings=ruleset.settings,
        title=run.pack.title or run.pack.pack_id,
        charts={picture.name: picture for picture in pictures},
        tiles=_tiles(run),
        stages=stages,
        players=[player["player"] for player in stages[0]["players"]],
        levels=run.levels.to_dicts(),
        bands=run.stages["band"].unique(maintain_order=True).to_list(),
        families=sorted(run.stages["family"].unique()),
        rejections=_rejections(run.rejections),
        earlier=run.earlier,
        record=run.record,
        times=_times(run.record.get("stages")),
        config=json.dumps(run.record["config"], indent=2, ensure_ascii=False) if "config" in run.record else "",
        far=FAR,
    )


def _recoloured() -> str:
    """Rules that give the colours of the charts by name, so that they follow the light of the room."""
    rules = (
        f'.chart [{part}="{COLOURS[name]}"] {{ {part}: var(--{name}); }}'
        for name in USED
        for part in ("fill", "stroke")
    )
    return "\n".join(rules) + "\n"


def _tiles(run: RunFolder) -> list[tuple[str, str]]:
    """The figures at the top, each with its name."""
    distances = [abs(distance) for distance in run.stages["distance"]]
    tiles = [
        (f"{run.levels.height} × {_spread(run.levels['stages'])}", "Levels and Stages"),
        (f"{sum(distances) / len(distances):.2f}", "mean distance to target, points"),
        (f"{max(distances):.2f}", "largest distance"),
        (f"{sum(distance <= 2.5 for distance in distances)} of {len(distances)}", "within 2.5 points"),
        (f"{run.puzzles.height + run.rejections.height:,}", "candidates"),
        (_spread(run.stages["adds"]), "Adds allowed"),
    ]
    match run.record.get("facts"):
        case {"gap": int(gap) | float(gap)}:
            tiles.append((f"{gap:.2%}", "optimality gap"))
    return tiles


def _spread(numbers: pl.Series) -> str:
    """The least and the largest of whole numbers, as text: `12`, or `1–5`."""
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low}–{high}"


def _stage(row: Mapping[str, Any], ruleset: Ruleset) -> dict[str, Any]:
    """A row of the table with what the page needs besides: rates at its allowance, the drawn board, words to find."""
    rates = [
        {"player": counts["player"], "percent": 100 * counts["passed"][row["adds"]] / counts["playouts"]}
        for counts in row["players"]
    ]
    find = " ".join(row[key] for key in ("stage", "puzzle", "family", "band", "board")).lower()
    return {**row, "players": rates, "drawing": drawing(Board.parse(row["board"], ruleset)), "find": find}


def drawing(board: Board) -> dict[str, Any]:
    """A board as the paths and texts of an SVG, ten units a cell: a tile for every active cell, a dot for a hole."""
    width = board.width
    places = [(10 * (i % width), 10 * (i // width), digit) for i, digit in enumerate(board.cells)]
    rows = []
    for y in range(0, 10 * -(-len(board.cells) // width), 10):
        active = [(x, digit) for x, row, digit in places if row == y and digit]
        rows.append(
            {"y": y + 7.3, "x": " ".join(str(x + 5) for x, _ in active), "digits": "".join(str(d) for _, d in active)}
        )
    return {
        "width": 10 * min(width, len(board.cells)),
        "height": 10 * len(rows),
        "tiles": "".join(f"M{x + 0.6:g} {y + 0.6:g}h8.8v8.8h-8.8z" for x, y, digit in places if digit),
        "dots": "".join(f"M{x + 5} {y + 5}h0" for x, y, digit in places if not digit),
        "rows": rows,
    }


def _rejections(rejections: pl.DataFrame) -> list[dict[str, Any]]:
    """How many candidates were dropped, by reason and family."""
    counts = rejections.group_by("reason", "family").len("count")
    return counts.sort("count", "reason", "family", descending=[True, False, False]).to_dicts()


def _times(stages: object) -> list[dict[str, Any]]:
    """What each stage of the last run did, and how fast."""
    if not isinstance(stages, dict):
        return []
    rows = []
    for name, tally in stages.items():
        match tally:
            case {"boards": int(boards), "seconds": int(seconds) | float(seconds)}:
                speed = f"{boards / seconds:,.0f}" if seconds else "–"
                rows.append({**tally, "name": name, "speed": speed})
    return rows
