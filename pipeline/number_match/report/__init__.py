"""A finished run folder comes in; `report.html`, which reads from disk without a network, and its charts as PNG go out.

The page shows the pack's curve, the panel, what became of the candidates, the pool against the curve, every Stage with
its board, and where it all comes from. Charts are drawn beforehand, as SVG: the page reads without its script, which
only sorts, filters and shows the text of a mark. Titles, names and whatever else a folder holds are text from outside,
and are escaped as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from number_match.models import write_text
from number_match.report import charts
from number_match.report.charts import NARROW, WIDE, Chart
from number_match.report.folder import RunFolder, read_run
from number_match.report.page import page


def write_report(folder: Path) -> Path:
    """Write report.html into a run folder, and every chart as reports/NAME.png. Returns the page's path.

    Raises:
        UserError: as `read_run` does.
        OSError: the folder cannot be written.
    """
    run = read_run(folder)
    pictures = []
    for name, title, text, chart in _charts(run):
        (folder / "reports" / f"{name}.png").write_bytes(charts.png(chart(WIDE)))
        pictures.append(charts.picture(name, title, text, chart(WIDE), chart(NARROW)))
    path = folder / "report.html"
    write_text(path, page(run, pictures))
    return path


def is_current(folder: Path) -> bool:
    """Whether report.html is there and younger than what it shows."""
    try:
        made = (folder / "report.html").stat().st_mtime_ns
        return all(made >= (folder / name).stat().st_mtime_ns for name in ("pack.json", "run.json"))
    except OSError:
        return False


def _charts(run: RunFolder) -> Iterator[tuple[str, str, str, Callable[[int], Chart]]]:
    """Every chart: name, title, what it says in a sentence, and how it is drawn at a width."""
    stages, count = run.stages, run.stages.height
    near = stages.filter(pl.col("distance").abs() <= 2.5).height
    text = (
        f"Difficulty of the {count} Stages in order: the target as a line, what was reached as a dot with its 95% "
        f"interval, the Adds allowed below. {near} of {count} lie within 2.5 points of their target."
    )
    yield "curve", "The curve", text, lambda width: charts.curve(stages, width)

    rates = charts.pass_rates(stages)
    names = ", ".join(rates["player"].unique(maintain_order=True))
    text = f"Mean pass rate by the number of Adds allowed, Level by Level, for {names}."
    yield "players", "The panel", text, lambda width: charts.players(rates, width)

    steps = charts.funnel_counts(run.puzzles, run.rejections)
    text = "Boards left after each step: " + ", ".join(f"{step} {left:,}" for step, left, _ in steps.iter_rows()) + "."
    yield "funnel", "From candidates to Stages", text, lambda width: charts.funnel(steps, width)

    tried = charts.by_size(run.puzzles, run.rejections)
    undecided = tried.filter(pl.col("verdict") == "undecided").height
    text = (
        "Verdicts by the number of cells, and the nodes that they took: the median as a dot, 95% of the boards within "
        f"the bar, the most as a tick. {undecided:,} of {tried.height:,} boards stayed undecided."
    )
    yield "verdicts", "What the solver said", text, lambda width: charts.verdicts(tried, width)

    offered = charts.supply(run.puzzles, run.adds)
    thin = charts.against(offered, stages).filter("thin").select("from", "to").rows()
    where = ", ".join(f"{low} to {high}" for low, high in thin)
    text = (
        "How many puzzles can stand at each difficulty, with the number of Stages that want it; below, where families "
        "and sizes lie. "
        + (f"Thin, with fewer than ten puzzles a Stage: {where}." if thin else "Nowhere fewer than ten a Stage.")
    )
    yield "pool", "The pool against the curve", text, lambda width: charts.pool(offered, stages, width)
