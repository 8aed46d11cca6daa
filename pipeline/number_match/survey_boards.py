"""The boards of a survey: what is asked for comes in, shards with a row for every board go out.

Boards are drawn cell by cell, digits 1 to 9 equally likely, and none is left out. Board k of a size is the same board
however many are asked for, so that a survey can be made larger. One solve with the largest allowance bounds min Adds,
and that answers every smaller allowance, too; where it leaves a smaller one open, that one is asked about once more, by
itself.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from number_match.config import Family, ValidateConfig
from number_match.generate import GENERATOR_BEHAVIOUR, random_boards
from number_match.jobs import Job
from number_match.players import default_panel
from number_match.rules import RULESETS, Board, Ruleset, class_counts
from number_match.simulate import SCORING_BEHAVIOUR, simulate
from number_match.solve import SOLVER_BEHAVIOUR, Bounds, solve
from number_match.store import Request, Store
from number_match.validate import check

SURVEY_BEHAVIOUR = 1
"""Goes up when the same solver and players may lead to other rows."""
SHARD = 500  # boards
FOLDER = "boards"
DEFAULT_BUDGET = ValidateConfig().node_budget


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
            "ruleset": dict(setting.split("=") for setting in self.ruleset.settings.split()),
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
                "survey": SURVEY_BEHAVIOUR,
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
    def kernels(self) -> tuple[str, ...]:
        return ("adds", "playouts") if self.survey.players else ("adds",)

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
        problem, bounds, nodes = check(result), result.min_adds, result.nodes
        if not problem and bounds.upper is not None and not bounds.decided:
            result = solve(board.with_adds(bounds.upper - 1), node_budget=node_budget, verdict_only=True)
            fewer, nodes = result.min_adds, nodes + result.nodes
            upper = bounds.upper if fewer.upper is None else fewer.upper
            problem, bounds = check(result), Bounds(max(bounds.lower, fewer.lower), upper)
    except (ValueError, ArithmeticError, LookupError) as error:
        return 0, None, 0, f"{type(error).__name__}: {error}"
    return (0, None, nodes, problem) if problem else (bounds.lower, bounds.upper, nodes, "")
