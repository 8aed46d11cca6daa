"""Proofs: a table of candidates comes in, a table of verdicts, bounds and solutions goes out.

The bounded solver finds; the plain rules decide: no `clearable` counts that `rules.replay` did not play to a cleared
board within the Adds that it claims. A board that ran out of budget is `undecided` and never counts as anything else.
"""

from __future__ import annotations

import polars as pl

from number_match.config import ValidateConfig
from number_match.rules import ADD, Board, IllegalAction, NotationError, Ruleset, class_counts, replay
from number_match.solve import SolveResult, solve

SCHEMA = pl.Schema(
    {
        "family": pl.String,
        "number": pl.Int64,
        "puzzle": pl.String,
        "board": pl.String,
        "verdict": pl.String,  # clearable, unclearable, undecided, failed
        "reason": pl.String,  # why a failed board failed
        "min_adds_lower": pl.Int64,
        "min_adds_upper": pl.Int64,
        "par_lower": pl.Int64,
        "par_upper": pl.Int64,
        "solution": pl.String,  # actions, with spaces between
        "needs_early_add": pl.Boolean,  # null when it is not decided
        "nodes": pl.Int64,
    }
)


def validate(candidates: pl.DataFrame, ruleset: Ruleset, max_adds: int, settings: ValidateConfig) -> pl.DataFrame:
    """Solve every candidate under the largest allowance of the run.

    Candidates that equal an earlier row of the table up to renaming classes are left out: the run keeps the first.

    Args:
        candidates: `generate.SCHEMA`.

    Returns:
        A table of `SCHEMA`, one row for each candidate that is the first of its kind here, in order.
    """
    rows = []
    for row in candidates.unique("canonical", keep="first", maintain_order=True).iter_rows(named=True):
        board = Board.parse(row["board"], ruleset).with_adds(max_adds)
        rows.append({key: row[key] for key in ("family", "number", "puzzle", "board")} | _verdict(board, settings))
    return pl.DataFrame(rows, schema=SCHEMA)


def _verdict(board: Board, settings: ValidateConfig) -> dict[str, object]:
    """The columns that the solver decides. What is wrong with one board rejects that board, never the run."""
    try:
        result = solve(board, node_budget=settings.node_budget, memory_mib=settings.memory_mib)
        problem = check(result)
    except (ValueError, ArithmeticError, LookupError) as error:
        return {"verdict": "failed", "reason": f"{type(error).__name__}: {error}", "nodes": 0}
    if problem:
        return {"verdict": "failed", "reason": problem, "nodes": result.nodes}
    return {
        "verdict": result.verdict,
        "min_adds_lower": result.min_adds.lower,
        "min_adds_upper": result.min_adds.upper,
        "par_lower": result.par.lower if result.par else None,
        "par_upper": result.par.upper if result.par else None,
        "solution": " ".join(result.solution) if result.solution is not None else None,
        "needs_early_add": getattr(result, "needs_early_add", None),
        "nodes": result.nodes,
    }


def check(result: SolveResult) -> str:
    """What the plain rules have against a result; empty when they confirm it."""
    board = result.board
    odd = any(count % 2 for count in class_counts(board))
    if result.verdict != "clearable":
        return "" if result.solution is None else f"{result.verdict}, yet with a solution"
    if result.solution is None or result.min_adds.upper is None:
        return "clearable without a solution"
    adds = result.solution.count(ADD)
    if adds != result.min_adds.upper or adds > board.adds:
        return f"the solution takes {adds} Adds where {result.min_adds.upper} of {board.adds} were claimed"
    if odd and not adds:
        return "clearable without an Add, with an odd number of cells of some class"
    if result.par is not None and result.par.upper != len(result.solution) - adds:
        return f"the solution removes {len(result.solution) - adds} pairs where {result.par.upper} were claimed"
    try:
        end = replay(board, result.solution)
    except (IllegalAction, NotationError) as error:
        return f"the solution does not replay: {error}"
    return "" if end.cleared else f"the solution leaves {end}"
