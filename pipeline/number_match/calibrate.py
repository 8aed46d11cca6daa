"""Pass rates of people from those of the panel: a pack and telemetry come in, a config fragment with its errors goes
out.

The panel's figures rank Stages well but are not the pass rates of people: the relation is not linear (Gudmundsson et
al., Human-like playtesting with deep learning, CIG 2018), and predictions shrink towards the mean, so that hard
Stages look too easy (Kristensen and Burelli 2024, arXiv:2401.17436). So the fragment maps a blend of players' scores
to a score of people, with a logistic curve where telemetry is scarce and an isotonic step where there are a thousand
rows, and what is printed tells the bias by decile of difficulty, not only the error. Errors are cross-validated over
puzzles: no puzzle is judged by a fit that saw it.

Telemetry is a CSV or parquet file with one row for each Stage (or board) and, if wanted, segment of people:

    stage       the id of a Stage of the pack; or instead of it
    board       a board of the pack, and
    allowance   the Adds that were allowed (beside `stage` it may be left out)
    attempts    how often people began it, at least 1
    clears      how often they cleared it
    segment     any name, for --segment
    puzzle      if wanted, the id of the puzzle, to be sure that the Stage is the same

The JSON that the preview page saves is read as well. Other columns are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from number_match.errors import UserError
from number_match.words import counted, printable, shortened

if TYPE_CHECKING:
    import polars as pl

    from number_match.models import Pack

Floats = NDArray[np.float64]

FEW = 1000
"""With fewer rows than this a logistic curve is fitted, with as many or more isotonic steps (scikit-learn's advice, see
https://scikit-learn.org/stable/modules/calibration.html)."""
LEAST_PUZZLES = 10
FOLDS = 5
GRID = tuple(2.5 * step for step in range(41))
"""The scores at which the fragment gives the mapping; straight lines lie between."""
RELIED_ON = {"unique-id", "puzzle-reference", "puzzle-used-once", "allowance", "panel", "counts"}
"""The rules of `verify` that a pack must keep, for its figures to mean anything here."""
SHARES = 100
"""The sum that the weights of a fitted blend are rounded to, about."""


# ------------------------------------------------------------------------------------------------------------ telemetry


@dataclass(frozen=True, slots=True)
class Row:
    """How people fared with one puzzle within one allowance."""

    puzzle: str
    allowance: int
    attempts: int
    clears: int


def read_telemetry(path: Path, pack: Pack, segment: str | None = None) -> list[Row]:
    """The rows of a telemetry file that fit the pack, those of one puzzle and allowance added up.

    Raises:
        UserError: naming the file, the row, the value and what was expected.
    """
    table = _table(path)
    if not table.columns:
        raise UserError(f"{path}: there are no games in it; the preview counts none that had help")
    missing = [name for name in ("attempts", "clears") if name not in table.columns]
    if missing or not {"stage", "board"} & set(table.columns):
        lacks = missing or ["stage (or board and allowance)"]
        there = shortened(printable(", ".join(table.columns)), 200) or "none"
        raise UserError(f"{path}: no column {', '.join(lacks)}; there are {there}")
    if segment is not None:
        if "segment" not in table.columns:
            raise UserError(f"{path}: --segment {segment} needs a column segment")
        named = sorted({str(name) for name in table["segment"].drop_nulls()})
        if segment not in named:
            raise UserError(f"{path}: no row of segment {segment!r}; there are {', '.join(named)}")
    stages = {stage.id: stage for level in pack.levels for stage in level.stages}
    boards = {puzzle.board: puzzle.id for puzzle in pack.puzzles}
    allowances = {stage.puzzle: _allowances(stage) for stage in stages.values()}
    sums: dict[tuple[str, int], tuple[int, int]] = {}
    first = 2 if path.suffix == ".csv" else 1  # a CSV file's first line holds the names
    for number, given in enumerate(table.iter_rows(named=True), first):
        if segment is not None and given["segment"] != segment:
            continue
        if path.suffix == ".json" and given["attempts"] == given["clears"] == 0:
            continue  # a Stage that was only played with hints
        where = f"{path} {'line' if first == 2 else 'row'} {number}"
        row = _checked(given, where, stages, boards, allowances)
        attempts, clears = sums.get((row.puzzle, row.allowance), (0, 0))
        sums[row.puzzle, row.allowance] = attempts + row.attempts, clears + row.clears
    return [Row(puzzle, allowance, *counts) for (puzzle, allowance), counts in sorted(sums.items())]


def _table(path: Path) -> pl.DataFrame:
    """The file as a table; of a CSV file all values are text."""
    import polars as pl

    from number_match.models import read_bytes

    data = read_bytes(path)
    kind = {".parquet": "parquet", ".json": "JSON"}.get(path.suffix, "CSV")
    try:
        if kind == "parquet":
            return pl.read_parquet(data)
        if kind == "CSV":
            return pl.read_csv(data, infer_schema=False)
        document = json.loads(data)
        rows = document.get("rows") if isinstance(document, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise UserError(f"{path}: expected what a preview page saves, an object with a list of rows")
        return pl.DataFrame(rows, infer_schema_length=None)
    except (pl.exceptions.PolarsError, ValueError, TypeError, RecursionError) as error:
        what = shortened(printable(str(error).splitlines()[0]), 120)
        raise UserError(f"{path}: expected telemetry as {kind}: {what}") from None


def _allowances(stage: Any) -> int:
    return min(len(counts.passed) for counts in stage.difficulty.players.values()) - 1


def _checked(
    given: Mapping[str, Any],
    where: str,
    stages: Mapping[str, Any],
    boards: Mapping[str, str],
    allowances: Mapping[str, int],
) -> Row:
    attempts, clears = (_whole(given, name, where) for name in ("attempts", "clears"))
    if given.get("stage") is not None:
        if given["stage"] not in stages:
            raise UserError(f"{where}: stage {given['stage']!r} is not in the pack")
        stage = stages[given["stage"]]
        puzzle, allowance = stage.puzzle, stage.adds
        if given.get("puzzle") not in (None, puzzle):
            raise UserError(f"{where}: puzzle {given['puzzle']!r}, but {stage.id} of this pack is {puzzle}")
        if given.get("allowance") is not None and _whole(given, "allowance", where) != allowance:
            raise UserError(f"{where}: allowance {given['allowance']}, but {stage.id} allows {allowance}")
    else:
        if given.get("board") not in boards:
            raise UserError(f"{where}: board {given.get('board')!r} is not in the pack")
        puzzle, allowance = boards[given["board"]], _whole(given, "allowance", where)
        if allowance > allowances.get(puzzle, -1):
            most = allowances.get(puzzle)
            raise UserError(f"{where}: allowance {allowance}: the panel was measured for 0 to {most} Adds")
    if attempts < 1:
        raise UserError(f"{where}: attempts {attempts}, expected at least 1")
    if clears > attempts:
        raise UserError(f"{where}: {clears} clears of {attempts} attempts")
    return Row(puzzle, allowance, attempts, clears)


def _whole(given: Mapping[str, Any], name: str, where: str) -> int:
    value = given.get(name)
    text = str(value).strip()
    if isinstance(value, bool) or not (text.isascii() and text.isdigit()) or len(text) > 15:
        raise UserError(f"{where}: {name} is {value!r}, expected a whole number from 0 on")
    return int(text)


# -------------------------------------------------------------------------------------------------------------- fitting


@dataclass(frozen=True, slots=True)
class Fit:
    """A mapping from the blended score of players to the score of people, and how good it is, cross-validated."""

    kind: str
    """`logistic` or `isotonic`"""
    weights: dict[str, int]
    points: tuple[tuple[float, float], ...]
    """(blended score, score of people), both 0 to 100, both rising"""
    rows: int
    attempts: int
    mean_error: float
    """The mean absolute error of the pass rate, in points, weighted by attempts"""
    uncalibrated_error: float
    """The same for the pass rates that the pack's own score tells"""
    rank_correlation: float
    """Spearman's, between predicted and observed pass rates"""
    bias: tuple[float, ...]
    """Predicted less observed pass rate, in points, by decile of predicted difficulty, the easiest first"""


def fit(pack: Pack, rows: Iterable[Row]) -> Fit:
    """The best mapping from the panel's figures to what people did.

    Every player alone and a non-negative least-squares blend of all are tried; the one of the least cross-validated
    error is taken, the first of equals.

    Raises:
        UserError: too few puzzles, pass rates that are all alike, or people who clear less where the panel clears more.
    """
    every = list(rows)
    counts = {
        stage.puzzle: {name: (one.passed, one.playouts) for name, one in stage.difficulty.players.items()}
        for level in pack.levels
        for stage in level.stages
    }
    names = list(pack.scoring.players)
    rates = [[_rate(*counts[row.puzzle][name], row.allowance) for name in names] for row in every]
    panel = np.array(rates).reshape(-1, len(names))
    attempts = np.array([row.attempts for row in every], float)
    observed = np.array([row.clears for row in every], float) / np.maximum(attempts, 1)
    puzzles = [row.puzzle for row in every]
    if len(set(puzzles)) < LEAST_PUZZLES:
        found = len(set(puzzles))
        raise UserError(
            f"telemetry of {counted(found, 'puzzle')}: expected at least {LEAST_PUZZLES}, to tell a fit from chance"
        )
    if observed.min() == observed.max():
        raise UserError(f"telemetry in which every Stage has the same pass rate ({observed[0]:.0%}) calibrates nothing")
    kind = "logistic" if len(every) < FEW else "isotonic"
    best: tuple[float, _Candidate, Floats] | None = None
    for candidate in [_Candidate(names, (name,)) for name in names] + [_Candidate(names, tuple(names))]:
        predicted = np.empty_like(observed)
        for inside, outside in _folds(puzzles):
            weights = candidate.weights(panel[inside], observed[inside], attempts[inside])
            mapping = _mapping(kind, panel[inside] @ weights, observed[inside], attempts[inside])
            predicted[outside] = mapping(panel[outside] @ weights)
        error = _mean_error(predicted, observed, attempts)
        if best is None or error < best[0]:
            best = error, candidate, predicted
    assert best is not None
    error, candidate, predicted = best
    whole = _whole_weights(candidate.weights(panel, observed, attempts))
    blend = panel @ (whole / whole.sum())
    mapping = _mapping(kind, blend, observed, attempts)
    passes = mapping(1 - np.array(GRID) / 100)
    scores = np.maximum.accumulate(np.round(100 * (1 - passes), 2))
    if scores[0] == scores[-1] or np.corrcoef(blend, observed)[0, 1] <= 0:
        raise UserError("telemetry in which people do not clear more where the panel does: is it of this pack?")
    return Fit(
        kind=kind,
        weights={name: int(weight) for name, weight in zip(names, whole, strict=True) if weight},
        points=tuple((at, float(score)) for at, score in zip(GRID, scores, strict=True)),
        rows=len(every),
        attempts=int(attempts.sum()),
        mean_error=error,
        uncalibrated_error=_mean_error(panel @ _shares(pack, names), observed, attempts),
        rank_correlation=_rank_correlation(predicted, observed),
        bias=_bias(predicted, observed, attempts),
    )


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A blend of some players of the panel."""

    names: list[str]
    members: tuple[str, ...]

    def weights(self, panel: Floats, observed: Floats, attempts: Floats) -> Floats:
        """The weights, one for each player of the panel, that sum to 1."""
        from scipy.optimize import nnls

        weights = np.zeros(len(self.names))
        at = [self.names.index(name) for name in self.members]
        if len(at) > 1:
            scale = np.sqrt(attempts)
            weights[at] = nnls(panel[:, at] * scale[:, None], observed * scale)[0]
        else:
            weights[at] = 1.0
        return weights / weights.sum() if weights.sum() else np.full(len(weights), 1 / len(weights))


def _shares(pack: Pack, names: list[str]) -> Floats:
    """How much each player counts in the score of the pack."""
    shares = np.array([pack.scoring.blend.get(name, 0) for name in names], float)
    result: Floats = shares / shares.sum()
    return result


def _whole_weights(weights: Floats) -> NDArray[np.int64]:
    whole = np.round(SHARES * weights / weights.sum()).astype(np.int64)
    result: NDArray[np.int64] = whole // np.gcd.reduce(whole)
    return result


def _rate(passed: tuple[int, ...], playouts: int, allowance: int) -> float:
    return passed[allowance] / playouts


def _folds(puzzles: list[str]) -> Iterator[tuple[Any, Any]]:
    from sklearn.model_selection import GroupKFold

    yield from GroupKFold(FOLDS).split(puzzles, groups=puzzles)


def _mapping(kind: str, blend: Floats, observed: Floats, attempts: Floats) -> Any:
    """A rising function from the blend's pass rate to that of people, fitted by attempts."""
    if kind == "isotonic":
        from sklearn.isotonic import IsotonicRegression

        steps = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(blend, observed, sample_weight=attempts)
        return steps.predict
    from sklearn.linear_model import LogisticRegression

    inputs = np.concatenate([_logit(blend), _logit(blend)])[:, None]
    outcomes = np.concatenate([np.ones(len(blend)), np.zeros(len(blend))])
    weights = np.concatenate([observed, 1 - observed]) * np.tile(attempts, 2)
    used = weights > 0
    curve = LogisticRegression(C=1e6, tol=1e-10, max_iter=1000)
    curve.fit(inputs[used], outcomes[used], sample_weight=weights[used])
    return lambda rates: curve.predict_proba(_logit(rates)[:, None])[:, 1]


def _logit(rates: Floats) -> Floats:
    inside = np.clip(rates, 0.002, 0.998)
    result: Floats = np.log(inside / (1 - inside))
    return result


def _mean_error(predicted: Floats, observed: Floats, attempts: Floats) -> float:
    return round(float(np.average(np.abs(predicted - observed), weights=attempts)) * 100, 2)


def _rank_correlation(predicted: Floats, observed: Floats) -> float:
    from scipy.stats import rankdata

    return round(float(np.corrcoef(rankdata(predicted), rankdata(observed))[0, 1]), 3)


def _bias(predicted: Floats, observed: Floats, attempts: Floats) -> tuple[float, ...]:
    parts = np.array_split(np.argsort(-predicted, kind="stable"), 10)
    return tuple(
        round(float(np.average(predicted[part] - observed[part], weights=attempts[part])) * 100, 1) for part in parts
    )


# --------------------------------------------------------------------------------------------------------------- saying


def fragment(found: Fit, pack: Pack, telemetry: str) -> str:
    """The fit as a piece of config, to be laid over the config of a run: `run -c release.toml -c calibrated.toml`."""
    weights = ", ".join(f"{name} = {weight}" for name, weight in found.weights.items())
    points = [f"[{at:g}, {score:g}]" for at, score in found.points]
    lines = ["  " + ", ".join(points[start : start + 7]) + "," for start in range(0, len(points), 7)]
    return "\n".join(
        [
            f"# Fitted to {telemetry}: {counted(found.rows, 'row')}, {counted(found.attempts, 'attempt')}.",
            f"# Pack {pack.pack_id}, version {pack.pack_version}.",
            f"# Cross-validated mean error of the pass rate {found.mean_error:g} points (the pack's own score: "
            f"{found.uncalibrated_error:g}),",
            f"# rank correlation {found.rank_correlation:g}.",
            "[score]",
            f"weights = {{ {weights} }}",
            "",
            "[score.calibration]",
            f'kind = "{found.kind}"',
            "# what the blended score of the players becomes: [blended score, score of people], straight lines between",
            "points = [",
            *lines,
            "]",
            "",
        ]
    )


def summary(found: Fit) -> str:
    """The figures of a fit, for a person."""
    bias = " ".join(f"{points:+.1f}" for points in found.bias)
    return "\n".join(
        [
            f"{found.kind} fit of {counted(found.rows, 'row')} ({counted(found.attempts, 'attempt')}) to "
            f"{', '.join(found.weights)}",
            f"mean error of the pass rate {found.mean_error:.1f} points, cross-validated",
            f"mean error of the pack's own score {found.uncalibrated_error:.1f} points",
            f"rank correlation {found.rank_correlation:.3f}",
            f"bias by decile of difficulty, easiest first, in points: {bias}",
        ]
    )


def calibrate(pack_path: str, telemetry: Path, segment: str | None = None) -> tuple[Fit, str]:
    """Read a pack and telemetry; the fit and the config fragment.

    Raises:
        UserError: a file cannot be read or does not fit, the pack's figures contradict themselves, or scikit-learn is
            not installed.
    """
    from importlib.util import find_spec

    from number_match.models import read_pack
    from number_match.verify_quick import quick

    if find_spec("sklearn") is None:
        raise UserError("calibrate needs scikit-learn: pip install 'number-match-pipeline[calibrate]'")
    pack = read_pack(pack_path)
    if finding := next((finding for finding in quick(pack, pack_path) if finding.rule in RELIED_ON), None):
        raise UserError(f"{finding}; expected a pack that `number-match verify` finds clean")
    rows = read_telemetry(telemetry, pack, segment)
    found = fit(pack, rows)
    return found, fragment(found, pack, telemetry.name if segment is None else f"{telemetry.name} ({segment})")
