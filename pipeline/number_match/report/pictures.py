"""The tables of a run come in; every chart goes out, with its title and what it says in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from number_match.report import charts
from number_match.report.charts import Chart
from number_match.report.folder import RunFolder
from number_match.words import counted


def pictures(run: RunFolder) -> Iterator[tuple[str, str, str, Callable[[int], Chart]]]:
    """Every chart: name, title, what it says in a sentence, and how it is drawn at a width."""
    stages, count = run.stages, run.stages.height
    near = stages.filter(pl.col("distance").abs() <= 2.5).height
    text = (
        f"Difficulty of {counted(count, 'Stage')} in order: the target as a line, what was reached as a dot with its "
        f"95% interval, the Adds allowed below. {near} of {count} lie within 2.5 points of their target."
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
        f"the bar, the most as a tick. {undecided:,} of {counted(tried.height, 'board')} stayed undecided."
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
