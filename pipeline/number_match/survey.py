"""A survey of random boards: sizes and allowances come in; out go the share of boards that can be cleared, the
distribution of min Adds, and the panel's pass rates.

    boards/*.parquet         a row for every board, in shards
    summary.parquet          a row for every figure, with its 95% interval
    survey.md survey.png     the same for people
    survey.json              what was asked for, and when

Boards are drawn cell by cell, digits 1 to 9 equally likely, and none is left out. Board k of a size is the same board
however many are asked for, so that a survey can be made larger. One solve with the largest allowance bounds min Adds,
and that answers every smaller allowance, too. The files but survey.json depend on what was asked for and on nothing
else (DESIGN.md section 4).
"""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from number_match import __version__
from number_match.config import Family, RunConfig, ValidateConfig
from number_match.engine import open_engine
from number_match.errors import UserError
from number_match.generate import GENERATOR_BEHAVIOUR, random_boards
from number_match.jobs import Job, Maker, Say, kept
from number_match.players import default_panel
from number_match.rules import RULESETS, Board, Ruleset, class_counts
from number_match.simulate import SCORING_BEHAVIOUR, simulate, wilson
from number_match.solve import SOLVER_BEHAVIOUR, solve
from number_match.store import DamagedShard, Request, Store, differences
from number_match.validate import check

SHARD = 500  # boards
FOLDER = "boards"
OUTPUTS = ("summary.parquet", "survey.md", "survey.png")
DEFAULT_BUDGET = ValidateConfig().node_budget

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


@dataclass(frozen=True)
class Survey:
    """What is asked for. `sizes` and `boards` may grow later; whatever else changes is another survey."""

    sizes: tuple[int, ...]
    boards: int
    max_adds: int
    playouts: int  # of every player on every board; 0 leaves the panel out
    seed: int
    ruleset: Ruleset
    node_budget: int = DEFAULT_BUDGET

    @property
    def settings(self) -> dict[str, Any]:
        """All that the rows of a board depend on, named as the command's options are."""
        return {
            "ruleset": self.ruleset.settings,
            "max-adds": self.max_adds,
            "playouts": self.playouts,
            "seed": self.seed,
            "node-budget": self.node_budget,
        }

    @cached_property
    def players(self) -> tuple[str, ...]:
        """The panel, from weak to strong."""
        return tuple(default_panel()) if self.playouts else ()

    @property
    def schema(self) -> pl.Schema:
        """The columns of boards/."""
        columns = {
            "cells": pl.Int64(),
            "number": pl.Int64(),  # within the size, from 0
            "board": pl.String(),
            "even": pl.Boolean(),  # every class has an even number of cells: without that no clear without an Add
            "min_adds_lower": pl.Int64(),
            "min_adds_upper": pl.Int64(),  # null when no clear was found
            "nodes": pl.Int64(),
            "problem": pl.String(),  # what went wrong with a board, which then counts as undecided
        }
        return pl.Schema(columns | {f"passed_{player}": pl.List(pl.Int64) for player in self.players})

    def jobs(self, folder: Path) -> list[BoardsJob]:
        """The shards, cut at multiples of `SHARD`, so that more boards leave full ones as they are."""
        return [
            self._job(folder, cells, range(start, min(start + SHARD, self.boards)))
            for cells in self.sizes
            for start in range(0, self.boards, SHARD)
        ]

    def _job(self, folder: Path, cells: int, numbers: range) -> BoardsJob:
        what = self.settings | {
            "behaviour": {
                "generate": GENERATOR_BEHAVIOUR,
                "solve": SOLVER_BEHAVIOUR,
                "simulate": SCORING_BEHAVIOUR,
            },
            "players": {name: default_panel()[name].model_dump(mode="json") for name in self.players},
            "cells": cells,
            "numbers": [numbers.start, numbers.stop],
        }
        return BoardsJob(str(folder), Request(FOLDER, f"{cells}-{numbers.start:08}", what), self, cells, numbers)

    @property
    def command(self) -> str:
        """The command that makes this survey, wherever and with however many workers."""
        words = ["number-match", "survey"]
        for cells in self.sizes:
            words += ["--size", str(cells)]
        for key in ("boards", "max-adds", "playouts", "seed"):
            words += [f"--{key}", str({"boards": self.boards, **self.settings}[key])]
        if self.ruleset.id != "veyra-1":
            known = RULESETS.get(self.ruleset.id) == self.ruleset
            words += ["--ruleset", self.ruleset.id if known else self.ruleset.settings.replace(" ", ",")]
        if self.node_budget != DEFAULT_BUDGET:
            words += ["--node-budget", str(self.node_budget)]
        return shlex.join(words)


# --------------------------------------------------------------------------------------------------------- the boards


@dataclass(frozen=True)
class BoardsJob(Job):
    """Boards `numbers` of a size, solved and played."""

    survey: Survey
    cells: int
    numbers: range

    def table(self, store: Store) -> tuple[pl.DataFrame, dict[str, int]]:
        survey = self.survey
        family = Family(name=f"survey-{self.cells}", cells=(self.cells, self.cells))
        drawn = random_boards(family, family.sizes, self.numbers, survey.ruleset, survey.seed)
        rows = [
            {"cells": self.cells, "number": number, "board": text}
            | _row(survey, number, Board.parse(text, survey.ruleset).with_adds(survey.max_adds))
            for number, text in drawn.select("number", "board").iter_rows()
        ]
        return pl.DataFrame(rows, schema=survey.schema), {}

    @property
    def boards(self) -> int:
        return len(self.numbers)


def _row(survey: Survey, number: int, board: Board) -> dict[str, Any]:
    """What is found out about board `number` of its size."""
    lower, upper, nodes, problem = _bounds(board, survey.node_budget)
    played = range(number * survey.playouts, (number + 1) * survey.playouts)  # equal boards are played differently
    passed = {
        f"passed_{name}": list(
            simulate(
                board,
                default_panel()[name],
                name=name,
                max_adds=survey.max_adds,
                playouts=played,
                seed=survey.seed,
                stream="survey",
            ).passed
        )
        for name in survey.players
    }
    return {
        "even": not any(count % 2 for count in class_counts(board)),
        "min_adds_lower": lower,
        "min_adds_upper": upper,
        "nodes": nodes,
        "problem": problem or None,
    } | passed


def _bounds(board: Board, node_budget: int) -> tuple[int, int | None, int, str]:
    """Bounds of min Adds, nodes, and what went wrong. A clear counts when the plain rules have replayed it."""
    try:
        result = solve(board, node_budget=node_budget, verdict_only=True)
        problem = check(result)
    except (ValueError, ArithmeticError, LookupError) as error:
        return 0, None, 0, f"{type(error).__name__}: {error}"
    if problem:
        return 0, None, result.nodes, problem
    return result.min_adds.lower, result.min_adds.upper, result.nodes, ""


# -------------------------------------------------------------------------------------------------------- the figures


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
    share = round(found[0] / of, 6) if of else None
    low, high = (round(end, 6) for end in ends)
    values = (cells, figure, player, adds, boards, of, *found, share, low, high)
    return dict(zip(SUMMARY, values, strict=True))


def clustered(passed: int, squares: int, boards: int, playouts: int) -> tuple[float, float]:
    """The 95% interval of a pass rate over random boards, each played equally often: boards are the sample.

    Wilson's interval on the effective sample size p(1 - p) / v, where v is the variance of the mean of the boards' pass
    rates (Korn and Graubard 1998, Survey Methodology 24; `svyciprop(method = "wilson")` of R's survey package). That
    size is at most all playouts; it is the number of boards where everything passes or nothing does.

    Args:
        passed: playouts that passed, over all boards. squares: the sum of the squares of each board's.
        boards, playouts: how many boards, and playouts of each.
    """
    every = boards * playouts
    if passed in (0, every):
        return wilson(boards if passed else 0, boards)
    spread = boards * squares - passed * passed
    size = min((boards - 1) * passed * (every - passed) / spread, every) if spread and boards > 1 else boards
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

    def cell(cells: int, figure: str, adds: int | None, player: str | None = None) -> str:
        return _percent(row_of[cells, figure, player, adds])

    found = [
        Table(
            "Boards that can be cleared, by Adds allowed, %",
            ["cells", *map(_adds, allowances)],
            [[str(cells), *(cell(cells, "clearable", adds) for adds in allowances)] for cells in survey.sizes],
        ),
        Table(
            "Boards by the fewest Adds that clear them, %",
            ["cells", *map(_adds, allowances), "more"],
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
                ["cells", "player", *map(_adds, allowances)],
                [
                    [str(cells), player, *(cell(cells, "pass_rate", adds, player) for adds in allowances)]
                    for cells in survey.sizes
                    for player in survey.players
                ],
            )
        )
    return found


def _adds(number: int) -> str:
    return "1 Add" if number == 1 else f"{number} Adds"


def _percent(row: Mapping[str, Any]) -> str:
    """`97.31 (97.07–97.53)`, and what stayed undecided."""
    if not row["of"]:
        return "–"
    share, low, high = (f"{100 * row[key]:.2f}".removesuffix(".00") for key in ("share", "low", "high"))
    undecided = f", {row['most'] - row['least']:,} undecided" if row["most"] > row["least"] else ""
    return f"{share} ({low}–{high}){undecided}"


def heading(survey: Survey) -> str:
    """What was done, in a sentence."""
    played = f", {survey.playouts} playouts of every player" if survey.players else ""
    return (
        f"{survey.boards:,} random boards of each size under {survey.ruleset.id}, seed {survey.seed}: "
        f"solved with up to {_adds(survey.max_adds)} within {survey.node_budget:,} nodes{played}."
    )


NOTES = """
In brackets: 95% intervals (Wilson). A board that stayed undecided counts as not clearable at the lower end and as
clearable at the upper one. Every clear was replayed by the plain rules. One solve with the largest allowance bounds
the fewest Adds, which answers every smaller allowance. Boards are drawn digit by digit, 1 to 9 equally likely; none
is left out.
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


# --------------------------------------------------------------------------------------------------------- the whole


def run_survey(survey: Survey, folder: Path, run: RunConfig, *, say: Say, bars: bool = False) -> pl.DataFrame:
    """Bring a folder to what is asked for, going on with what is there, and return the summary.

    Raises:
        UserError: the folder holds something else, or another process has it.
        WorkersDied, OSError: the work could not go on; what is finished is kept.
    """
    store = Store(folder)
    record = _record(store, survey)
    jobs = survey.jobs(folder)
    if _is_done(store, survey, record, jobs):
        say(f"{folder}: nothing to do; this survey is finished")
        return pl.read_parquet(store.path("summary.parquet"))
    store.prepare([FOLDER])
    with store.lock(), open_engine(run) as engine:
        begun = time.perf_counter()
        _write_record(store, survey, {"state": "running"})
        maker = Maker(store, engine, say, bars=bars)
        missing = maker.missing(jobs)
        say(kept("survey", jobs, missing))
        if missing:
            _warm_up(survey, say)
        with maker.bar("survey", sum(job.boards for job in missing)) as bar:
            for job, _ in maker.made(missing):
                bar.update(job.boards)
        figures = _figures_of(survey, maker, jobs)
        _write(store, survey, figures)
        _clear(store, survey, jobs)
        facts = {
            "state": "done",
            "sizes": list(survey.sizes),
            "boards": survey.boards,
            "outputs": {name: store.file_hash(name) for name in OUTPUTS},
            "boards_made": sum(job.boards for job in missing),
            "seconds": round(time.perf_counter() - begun, 3),
        }
        _write_record(store, survey, facts)
        say(f"{folder}: {facts['boards_made']:,} boards surveyed in {facts['seconds']:.0f} s")
    return figures


def _record(store: Store, survey: Survey) -> dict[str, Any]:
    """survey.json, when there is one; raises UserError where the folder is another survey's, or no survey's."""
    if store.path("run.json").exists():
        raise UserError(f"{store.folder}: holds a run (run.json); choose another folder for the survey with -o")
    record = store.read_record("survey.json") or {}
    settings = record.get("settings", survey.settings)
    if settings != survey.settings:
        changes = ", ".join(differences(settings, survey.settings))
        raise UserError(
            f"{store.folder}: holds a survey of other settings ({changes}); give those, or another folder with -o"
        )
    return record


def _write_record(store: Store, survey: Survey, facts: Mapping[str, Any]) -> None:
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    content = {"settings": survey.settings, "version": __version__, "written": at, **facts}
    store.write_text("survey.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _is_done(store: Store, survey: Survey, record: Mapping[str, Any], jobs: Sequence[Job]) -> bool:
    """Whether everything that is asked for is there."""
    outputs = record.get("outputs")
    if not isinstance(outputs, dict) or set(outputs) != set(OUTPUTS):
        return False
    if (record.get("sizes"), record.get("boards")) != (list(survey.sizes), survey.boards):
        return False
    try:
        return all(store.file_hash(name) == outputs[name] for name in OUTPUTS) and all(
            store.holds(job.request) for job in jobs
        )
    except DamagedShard:
        return False


def _warm_up(survey: Survey, say: Say) -> None:
    from number_match.kernels import prepare

    prepare(["adds", "playouts"] if survey.players else ["adds"], say)


def _figures_of(survey: Survey, maker: Maker, jobs: Sequence[BoardsJob]) -> pl.DataFrame:
    """The summary of the shards, read one at a time."""
    counts = {cells: Counts() for cells in survey.sizes}
    for job in jobs:
        counts[job.cells].take(maker.read(job.request, survey.schema), survey)
    return summary(survey, counts)


def _write(store: Store, survey: Survey, figures: pl.DataFrame) -> None:
    from number_match.report.charts import WIDE, players, png

    store.write_table("summary.parquet", figures)
    store.write_text("survey.md", page(survey, figures))
    store.write_bytes("survey.png", png(players(rates(survey, figures), WIDE)))


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


def _clear(store: Store, survey: Survey, jobs: Sequence[Job]) -> None:
    """Remove shards of boards that others hold by now, so that boards/ has every board once."""
    wanted = {job.request.name for job in jobs}
    for name in store.shards(FOLDER):
        what = store.request_of(name) or {}
        if name not in wanted and what.get("cells") in survey.sizes and what["numbers"][0] < survey.boards:
            store.discard(name)
