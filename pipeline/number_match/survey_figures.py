"""The figures of a survey: shards of boards come in; counts, a table of figures with 95% intervals, and the same for
people go out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import polars as pl

from number_match.simulate import wilson
from number_match.survey_boards import Survey
from number_match.words import counted

SUMMARY = pl.Schema(
    {
        "cells": pl.Int64,
        "figure": pl.String,  # even, clearable, clearable_of_even, min_adds, min_adds_above, pass_rate
        "player": pl.String,
        "adds": pl.Int64,
        "boards": pl.Int64,  # the sample
        "of": pl.Int64,  # what is counted: boards, or playouts
        "least": pl.Int64,  # how many of them for certain,
        "most": pl.Int64,  # and how many if every undecided board were one
        "share": pl.Float64,  # least / of; null where there is nothing to count
        "low": pl.Float64,
        "high": pl.Float64,
    }
)


@dataclass
class Counts:
    """What is counted over the boards of one size."""

    boards: int = 0
    bounds: Counter[tuple[int, int | None, bool]] = field(default_factory=Counter)  # of min Adds, and whether even
    passed: Counter[tuple[str, int]] = field(default_factory=Counter)  # by player and allowance
    squares: Counter[tuple[str, int]] = field(default_factory=Counter)  # of the passed, board by board

    def take(self, table: pl.DataFrame, survey: Survey) -> None:
        """Count the boards of a shard."""
        self.boards += table.height
        for lower, upper, even, count in table.group_by("min_adds_lower", "min_adds_upper", "even").len().iter_rows():
            self.bounds[lower, upper, even] += count
        for player in survey.players:
            for adds in range(survey.max_adds + 1):
                passed = table[f"passed_{player}"].list.get(adds)
                self.passed[player, adds] += int(passed.sum())
                self.squares[player, adds] += int((passed * passed).sum())

    def range_of(self, low: int, high: int | None, *, even: bool = False) -> tuple[int, int]:
        """How many boards have min Adds from `low` to `high` (None: or more): for certain, and at most.

        With `even`, only boards with an even number of cells of every class are counted.
        """
        least = most = 0
        for (lower, upper, is_even), count in self.bounds.items():
            if even and not is_even:
                continue
            above = high is not None and (upper is None or upper > high)
            least += 0 if lower < low or above else count
            outside = (upper is not None and upper < low) or (high is not None and lower > high)
            most += 0 if outside else count
        return least, most


def summary(survey: Survey, counts: Mapping[int, Counts]) -> pl.DataFrame:
    """The figures of every size. Returns a table of `SUMMARY`."""
    rows = [row for cells in survey.sizes for row in _figures(survey, cells, counts[cells])]
    return pl.DataFrame(rows, schema=SUMMARY)


def _figures(survey: Survey, cells: int, counts: Counts) -> Iterator[dict[str, Any]]:
    even = sum(count for (_, _, is_even), count in counts.bounds.items() if is_even)

    def of_boards(figure: str, adds: int | None, found: tuple[int, int], of: int) -> dict[str, Any]:
        low, high = wilson(found[0], of)[0], wilson(found[1], of)[1]
        return _figure(cells, figure, None, adds, of, of, found, (low, high))

    yield of_boards("even", None, (even, even), counts.boards)
    yield of_boards("clearable_of_even", 0, counts.range_of(0, 0, even=True), even)
    for adds in range(survey.max_adds + 1):
        yield of_boards("clearable", adds, counts.range_of(0, adds), counts.boards)
    for adds in range(survey.max_adds + 1):
        yield of_boards("min_adds", adds, counts.range_of(adds, adds), counts.boards)
    yield of_boards("min_adds_above", survey.max_adds, counts.range_of(survey.max_adds + 1, None), counts.boards)
    for player in survey.players:
        for adds in range(survey.max_adds + 1):
            passed, squares = counts.passed[player, adds], counts.squares[player, adds]
            ends = clustered(passed, squares, counts.boards, survey.playouts)
            playouts = counts.boards * survey.playouts
            yield _figure(cells, "pass_rate", player, adds, counts.boards, playouts, (passed, passed), ends)


def _figure(
    cells: int,
    figure: str,
    player: str | None,
    adds: int | None,
    boards: int,
    of: int,
    found: tuple[int, int],
    ends: tuple[float, float],
) -> dict[str, Any]:
    share = round(found[0] / of, 8) if of else None
    low, high = (round(end, 8) for end in ends)
    values = (cells, figure, player, adds, boards, of, *found, share, low, high)
    return dict(zip(SUMMARY, values, strict=True))


def clustered(passed: int, squares: int, boards: int, playouts: int) -> tuple[float, float]:
    """The 95% interval of a pass rate over random boards, each played equally often: boards are the sample.

    Wilson's interval on the effective sample size p(1 - p) / v, where v is the variance of the mean of the boards' pass
    rates (Korn and Graubard 1998, Survey Methodology 24; `svyciprop(method = "wilson")` of R's survey package). That
    size is at most all playouts; it is the number of boards where everything passes or nothing does, which says nothing
    of the variance.

    Args:
        passed: playouts that passed, over all boards.
        squares: the sum of the squares of each board's.
        boards, playouts: how many boards, and playouts of each.
    """
    every = boards * playouts
    if passed in (0, every):
        return wilson(boards if passed else 0, boards)
    spread = boards * squares - passed * passed  # the variance between boards, times boards * (boards - 1)
    size = min((boards - 1) * passed * (every - passed) / spread, every) if spread else every if boards > 1 else 1
    return wilson(passed / every * size, size)


# -------------------------------------------------------------------------------------------------------- for people


@dataclass(frozen=True)
class Table:
    """A table for people."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def plain(self) -> str:
        """In columns, for a terminal: what stands first is written once."""
        lines = [self.header, *self.rows]
        once = [("" if line[0] == above[0] else line[0], *line[1:]) for above, line in pairwise([("",), *lines])]
        widths = [max(map(len, column)) for column in zip(*once, strict=True)]
        texts = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in once)
        return "\n".join([self.title, "", *(text.rstrip() for text in texts)])

    def markdown(self) -> str:
        """As Markdown has it."""
        lines = [f"| {' | '.join(line)} |" for line in (self.header, ["---"] * len(self.header), *self.rows)]
        return "\n".join([f"## {self.title}", "", *lines])


def tables(survey: Survey, figures: pl.DataFrame) -> list[Table]:
    """The summary in percent, with intervals in brackets."""
    row_of = {(row["cells"], row["figure"], row["player"], row["adds"]): row for row in figures.iter_rows(named=True)}
    allowances = range(survey.max_adds + 1)
    headers = [counted(adds, "Add") for adds in allowances]

    def cell(cells: int, figure: str, adds: int | None, player: str | None = None) -> str:
        return _percent(row_of[cells, figure, player, adds])

    found = [
        Table(
            "Boards that can be cleared, by Adds allowed, %",
            ["cells", *headers],
            [[str(cells), *(cell(cells, "clearable", adds) for adds in allowances)] for cells in survey.sizes],
        ),
        Table(
            "Boards by the fewest Adds that clear them, %",
            ["cells", *headers, "more"],
            [
                [
                    str(cells),
                    *(cell(cells, "min_adds", adds) for adds in allowances),
                    cell(cells, "min_adds_above", survey.max_adds),
                ]
                for cells in survey.sizes
            ],
        ),
        Table(
            "Without an Add: boards with an even number of cells of every class, and the share of these cleared, %",
            ["cells", "even", "cleared of these"],
            [[str(cells), cell(cells, "even", None), cell(cells, "clearable_of_even", 0)] for cells in survey.sizes],
        ),
    ]
    if survey.players:
        found.append(
            Table(
                "Playouts that clear a random board, by player and Adds allowed, %",
                ["cells", "player", *headers],
                [
                    [str(cells), player, *(cell(cells, "pass_rate", adds, player) for adds in allowances)]
                    for cells in survey.sizes
                    for player in survey.players
                ],
            )
        )
    return found


def _percent(row: Mapping[str, Any]) -> str:
    """`97.31 (97.07–97.53)`, and what stayed undecided; only nothing at all is 0, and only everything 100."""
    if not row["of"]:
        return "–"
    values = (row["share"], row["low"], row["high"])
    share, low, high = (f"{100 * value:.0f}" if value in (0, 1) else f"{100 * value:.2f}" for value in values)
    undecided = f", {row['most'] - row['least']:,} undecided" if row["most"] > row["least"] else ""
    return f"{share} ({low}–{high}){undecided}"


def heading(survey: Survey) -> str:
    """What was done, in a sentence."""
    played = f", {survey.playouts} playouts of every player" if survey.players else ""
    return (
        f"{survey.boards:,} random boards of each size under {survey.ruleset.id}, seed {survey.seed}: "
        f"solved with up to {counted(survey.max_adds, 'Add')} within {survey.node_budget:,} nodes{played}."
    )


NOTES = """
In brackets: 95% intervals (Wilson). A board that stayed undecided counts as not clearable at the lower end and as
clearable at the upper one. Every clear was replayed by the plain rules. One solve with the largest allowance bounds
the fewest Adds, which answers every smaller allowance; what it leaves open there is asked once more. Boards are drawn
digit by digit, 1 to 9 equally likely; none is left out.
"""
PANEL_NOTE = """
Pass rates are means over boards, and boards are the sample: the interval is Wilson's on the effective sample size
that follows from the variance between boards. The players are models, and claim nothing about people.
"""


def page(survey: Survey, figures: pl.DataFrame) -> str:
    """survey.md."""
    parts = ["# Random boards", heading(survey), f"    {survey.command}", "![The same as a chart](survey.png)"]
    parts += [table.markdown() for table in tables(survey, figures)]
    return "\n\n".join([*parts, NOTES.strip(), *([PANEL_NOTE.strip()] if survey.players else [])]) + "\n"


def rates(survey: Survey, figures: pl.DataFrame) -> pl.DataFrame:
    """What the chart shows, as `charts.players` takes it: pass rates, and beside them the share that can be cleared."""
    shown = pl.concat(figures.filter(figure=name) for name in ("pass_rate", "clearable"))
    return shown.select(
        pl.format("{} cells", "cells").alias("level"),
        pl.col("player").fill_null("can be cleared"),
        "adds",
        pl.col("share").alias("rate"),
        "low",
        "high",
        pl.lit("").alias("say"),
    )
