"""Calibration: made-up telemetry from a player outside the panel, and telemetry that does not fit the pack."""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import DATA, Command
from number_match import calibrate as module
from number_match.calibrate import GRID, Row, fit, fragment, read_telemetry
from number_match.difficulty import blended, calibrated
from number_match.errors import UserError
from number_match.identity import canonical_id, puzzle_id
from number_match.models import Pack, document_of, pack_text, parse_pack, read_pack, seal
from number_match.players import Player, default_panel
from number_match.rules import Board
from number_match.simulate import simulate

PEOPLE = Player(
    row=0.7, column=0.65, diagonal=0.3, wrap=0.2, sum_fade=0.6, near_gain=0.6, looks=3, temperature=3, patience=15
)
"""Sees, chooses and Adds unlike anybody in the panel."""
PLAYOUTS = 600
MAX_ADDS = 4


@cache
def boards() -> tuple[Board, ...]:
    rng = random.Random(11)
    texts = ["".join(rng.choice("123456789") for _ in range(rng.randint(18, 36))) for _ in range(40)]
    return tuple(Board.parse("/".join(text[at : at + 9] for at in range(0, len(text), 9))) for text in texts)


@cache
def a_pack() -> Pack:
    """40 Stages with honest counts of the panel. What the solver would say is made up, as nothing here reads it."""
    panel = default_panel()

    def stage(number: int, board: Board) -> dict[str, Any]:
        played = {
            name: simulate(board, player, name=name, max_adds=MAX_ADDS, playouts=range(PLAYOUTS), seed=1)
            for name, player in panel.items()
        }
        return {
            "id": f"L001-S{number:02d}",
            "puzzle": puzzle_id(board),
            "adds": 1 + number % MAX_ADDS,
            "difficulty": {
                "score": 0.0,
                "band": "easy",
                "target": 0.0,
                "players": {
                    name: {"passed": list(one.passed), "playouts": one.playouts} for name, one in played.items()
                },
            },
            "solution": ["+"],
        }

    document = {
        "format": "number-match-pack",
        "format_version": 1,
        "pack_version": 3,
        "pack_id": "played",
        "title": "Played",
        "content_hash": "sha256:" + "0" * 64,
        "ruleset": {"id": "veyra-1", "width": 9, "row": True, "column": True, "diagonal": True, "wrap": True},
        "generator": {"name": "test", "version": "1", "config_hash": "sha256:" + "0" * 64, "seed": 1},
        "solver": {"behaviour": 1, "node_budget": 1},
        "scoring": {
            "behaviour": 1,
            "seed": 1,
            "reference": "casual",
            "players": {name: player.model_dump(mode="json") for name, player in panel.items()},
            "bands": [{"name": "easy", "from": 0}],
        },
        "assembly": {"curve": {}, "constraints": {}},
        "withdrawn": [],
        "puzzles": [
            {
                "id": puzzle_id(board),
                "board": board.text,
                "canonical": canonical_id(board),
                "min_adds": {"lower": 1, "upper": 1},
                "par": None,
                "family": "any",
            }
            for board in boards()
        ],
        "levels": [{"id": "L001", "title": "", "stages": [stage(n, board) for n, board in enumerate(boards(), 1)]}],
    }
    pack = parse_pack(json.dumps(document).encode(), "made up")
    assert isinstance(pack, Pack)
    return seal(pack)


@cache
def played_by_people() -> dict[str, tuple[int, ...]]:
    """By board: how many of 400 people clear it within each allowance."""
    return {
        board.text: simulate(board, PEOPLE, name="people", max_adds=MAX_ADDS, playouts=range(400), seed=2).passed
        for board in boards()
    }


def rows_of_people() -> list[Row]:
    return [
        Row(puzzle_id(board), allowance, 400, played_by_people()[board.text][allowance])
        for board in boards()
        for allowance in range(1, MAX_ADDS + 1)
    ]


def telemetry(change: Callable[[list[dict[str, Any]]], None] = lambda rows: None) -> pl.DataFrame:
    stages = [stage for level in a_pack().levels for stage in level.stages]
    rows: list[dict[str, Any]] = [
        {"stage": stage.id, "attempts": 400, "clears": played_by_people()[board.text][stage.adds], "segment": "new"}
        for stage, board in zip(stages, boards(), strict=True)
    ]
    change(rows)
    return pl.DataFrame(rows, infer_schema_length=None)


def mapped(points: tuple[tuple[float, float], ...], blended: float) -> float:
    return float(np.interp(blended, [at for at, _ in points], [score for _, score in points]))


@pytest.mark.parametrize("kind", ["logistic", "isotonic"])
def test_a_fit_predicts_people_better_than_the_panel_as_it_stands(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEW", 1000 if kind == "logistic" else 100)
    found = fit(a_pack(), rows_of_people())
    assert found.kind == kind
    assert found.rows == 160
    assert found.attempts == 64_000
    assert found.mean_error < 5
    assert found.mean_error < found.uncalibrated_error
    assert found.rank_correlation > 0.93
    assert len(found.bias) == 10
    assert max(map(abs, found.bias)) < 10
    scores = [score for _, score in found.points]
    assert [at for at, _ in found.points] == list(GRID)
    assert scores == sorted(scores)
    assert min(scores) >= 0
    assert max(scores) <= 100
    # the points and weights alone, as a config has them, predict as well
    total = sum(found.weights.values())
    stages = {stage.puzzle: stage for level in a_pack().levels for stage in level.stages}
    errors = []
    for row in rows_of_people():
        players = stages[row.puzzle].difficulty.players
        failed = {name: 100 * (1 - players[name].passed[row.allowance] / PLAYOUTS) for name in found.weights}
        blended = sum(weight * failed[name] for name, weight in found.weights.items()) / total
        errors.append(abs(mapped(found.points, blended) - 100 * (1 - row.clears / row.attempts)))
    assert sum(errors) / len(errors) < found.mean_error + 1


def test_the_error_tells_when_the_panel_cannot_know() -> None:
    """People who clear every other row half as often for no reason that the panel shares."""
    rows = [
        Row(row.puzzle, row.allowance, row.attempts, row.clears if i % 2 else row.clears // 2)
        for i, row in enumerate(rows_of_people())
    ]
    assert fit(a_pack(), rows).mean_error > fit(a_pack(), rows_of_people()).mean_error + 3


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_every_kind_of_file_gives_the_same_rows(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"telemetry.{ending}"
    table = telemetry()
    if ending == "csv":
        table.write_csv(path)
    elif ending == "parquet":
        table.write_parquet(path)
    else:
        path.write_text(json.dumps({"format": "number-match-telemetry", "rows": table.to_dicts()}))
    rows = read_telemetry(path, a_pack())
    stages = {stage.puzzle: stage.adds for level in a_pack().levels for stage in level.stages}
    wanted = [row for row in rows_of_people() if stages[row.puzzle] == row.allowance]
    assert rows == sorted(wanted, key=lambda row: (row.puzzle, row.allowance))


def test_boards_segments_and_repeated_rows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "telemetry.csv"
    board = boards()[0].text
    path.write_text(
        f"board,allowance,attempts,clears,segment\n{board},2,10,3,new\n{board},2,5,5,old\n{board},3,1,0,new\n{board},2,4,1,new\n"
    )
    puzzle = puzzle_id(boards()[0])
    assert read_telemetry(path, a_pack(), "new") == [Row(puzzle, 2, 14, 4), Row(puzzle, 3, 1, 0)]
    assert read_telemetry(path, a_pack()) == [Row(puzzle, 2, 19, 9), Row(puzzle, 3, 1, 0)]
    with pytest.raises(UserError, match="no row of segment 'young'; there are new, old"):
        read_telemetry(path, a_pack(), "young")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"stage": "L009-S01"}, "line 4: stage 'L009-S01' is not in the pack"),
        ({"clears": 401}, "line 4: 401 clears of 400 attempts"),
        ({"attempts": 0, "clears": 0}, "line 4: attempts 0, expected at least 1"),
        ({"attempts": "many"}, "line 4: attempts is 'many', expected a whole number"),
        ({"clears": -1}, "line 4: clears is '-1', expected a whole number"),
        ({"clears": None}, "line 4: clears is None, expected a whole number"),
        ({"stage": None}, "line 4: board None is not in the pack"),
        ({"puzzle": "p-0123"}, "line 4: puzzle 'p-0123', but L001-S03 of this pack is p-"),
    ],
)
def test_telemetry_that_does_not_fit_is_refused_with_its_row(
    changes: dict[str, object], complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / "telemetry.csv"
    telemetry(lambda rows: rows[2].update(changes)).write_csv(path)
    with pytest.raises(UserError) as refused:
        read_telemetry(path, a_pack())
    assert complaint in str(refused.value)
    assert str(path) in str(refused.value)


def test_stages_played_only_with_hints_are_passed_over(tmp_path: Path) -> None:
    """As the preview page saves them."""
    path = tmp_path / "t.json"
    stage = a_pack().levels[0].stages[0]
    rows = [
        {"stage": stage.id, "puzzle": stage.puzzle, "allowance": stage.adds, "attempts": n, "clears": n, "par": None}
        for n in (0, 2)
    ]
    path.write_text(json.dumps({"format": "number-match-telemetry", "rows": rows}))
    assert read_telemetry(path, a_pack()) == [Row(stage.puzzle, stage.adds, 2, 2)]


def test_an_allowance_that_is_not_the_stages_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "telemetry.csv"
    path.write_text("stage,allowance,attempts,clears\nL001-S01,4,10,3\n")
    with pytest.raises(UserError, match="line 2: allowance 4, but L001-S01 allows 2"):
        read_telemetry(path, a_pack())
    path.write_text(f"board,allowance,attempts,clears\n{boards()[0].text},9,10,3\n")
    with pytest.raises(UserError, match="line 2: allowance 9: the panel was measured for 0 to 4 Adds"):
        read_telemetry(path, a_pack())


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("t.csv", "stage,attempts\nL001-S01,3\n", "no column clears"),
        ("t.csv", "attempts,clears\n3,1\n", "no column stage"),
        ("t.csv", "", "expected telemetry as"),
        ("t.json", "[1, 2", "expected telemetry as"),
        ("t.json", "[1, 2]", "expected what a preview page saves"),
        ("t.parquet", "nothing of the kind", "expected telemetry as"),
    ],
)
def test_files_that_are_no_telemetry_are_refused(name: str, text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UserError, match=complaint):
        read_telemetry(path, a_pack())


def test_what_cannot_be_fitted_is_refused() -> None:
    rows = rows_of_people()
    with pytest.raises(UserError, match="telemetry of 2 puzzles: expected at least 10"):
        fit(a_pack(), rows[:8])
    with pytest.raises(UserError, match="same pass rate"):
        fit(a_pack(), [Row(row.puzzle, row.allowance, 10, 5) for row in rows])
    with pytest.raises(UserError, match="do not clear more where the panel does"):
        fit(a_pack(), [Row(row.puzzle, row.allowance, 400, 400 - row.clears) for row in rows])


def test_a_pack_whose_figures_contradict_themselves_calibrates_nothing(command: Command, tmp_path: Path) -> None:
    document = json.loads((DATA / "example.pack.json").read_text("utf-8"))
    document["levels"][0]["stages"][0]["difficulty"]["players"] = {}
    path = tmp_path / "pack.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    complaint = command("calibrate", path, path).complaint
    assert "L001-S01" in complaint
    assert "panel: found []" in complaint
    assert complaint.endswith("expected a pack that `number-match verify` finds clean")


def test_the_command_prints_a_fragment_and_its_errors(command: Command, tmp_path: Path) -> None:
    pack, path, out = tmp_path / "pack.json", tmp_path / "telemetry.csv", tmp_path / "calibrated.toml"
    pack.write_text(pack_text(a_pack()))
    telemetry().write_csv(path)
    printed = command("calibrate", str(pack), str(path))
    assert printed.code == 0, printed.err
    score = tomllib.loads(printed.out)["score"]
    assert set(score["weights"]) <= set(default_panel())
    assert score["calibration"]["kind"] == "logistic"
    assert len(score["calibration"]["points"]) == len(GRID)
    assert "rank correlation" in printed.err
    assert "bias by decile" in printed.err
    written = command("calibrate", str(pack), str(path), "--segment", "new", "--out", str(out))
    assert (written.code, written.out) == (0, "")
    assert tomllib.loads(out.read_text())["score"] == score
    assert "cannot be written" in command("calibrate", str(pack), str(path), "--out", tmp_path / "no" / "x").complaint
    path.write_text("stage,attempts,clears\nL001-S99,3,1\n")
    assert "L001-S99" in command("calibrate", str(pack), str(path)).complaint


def test_a_fragment_is_the_same_every_time() -> None:
    texts = {fragment(fit(a_pack(), rows_of_people()), a_pack(), "telemetry.csv") for _ in range(2)}
    assert len(texts) == 1
    assert document_of(a_pack())["pack_id"] in texts.pop()


def test_a_calibrated_score_lies_on_the_lines_between_the_points() -> None:
    """For ints and arrays alike, against exact arithmetic."""
    points = ((0.0, 3.5), (2.5, 3.5), (10.0, 40.0), (33.3, 40.125), (100.0, 97.0))
    given = np.concatenate([np.arange(0, 100_001, 37), [0, 2500, 10_000, 33_300, 100_000]])
    whole = calibrated(given.astype(np.int64), points)
    for score, got in zip(given.tolist(), whole.tolist(), strict=True):
        (a, low), (b, high) = next(
            (one, two) for one, two in pairwise(points) if round(one[0] * 1000) <= score <= round(two[0] * 1000)
        )
        start, end, bottom, top = (round(1000 * value) for value in (a, b, low, high))
        exact = bottom + Fraction((top - bottom) * (score - start), end - start)
        assert got == calibrated(score, points) == floor(exact + Fraction(1, 2))
    assert calibrated(12_345, ()) == 12_345
    assert blended([10_000, 30_000], [1, 3], ((0, 0), (100, 50))) == 12_500


def test_telemetry_without_a_game_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "telemetry.json"
    path.write_text('{"format": "number-match-telemetry", "rows": []}', encoding="utf-8")
    with pytest.raises(UserError, match="there are no games in it"):
        read_telemetry(path, a_pack())


def test_a_run_takes_the_fragment_and_its_pack_says_so(command: Command, tmp_path: Path) -> None:
    """Laid over a config; the pack verifies, and one with a broken calibration does not read."""
    config, fitted, out = tmp_path / "tiny.toml", tmp_path / "calibrated.toml", tmp_path / "out"
    config.write_text(
        "[generate]\ncandidates = 60\n[[generate.families]]\nname = 'small'\ncells = [10, 16]\n"
        "[rules]\nadds = [1, 3]\n[score]\nreport = {playouts = 400}\nselect = {playouts = 200}\n"
        "[assemble]\nlevels = 1\nstages = 4\ntolerance = 30\ncurve = {kind = 'linear', start = 30, end = 60}\n"
        "[run]\nengine = 'inline'\n"
    )
    fitted.write_text(
        "[score]\nweights = {casual = 2, expert = 1}\n[score.calibration]\nkind = 'isotonic'\n"
        "points = [[0, 10], [40, 30.5], [100, 95]]\n"
    )
    first = command("run", "-c", config, "-o", out)
    assert first.code == 0, first.err
    again = command("run", "-c", config, "-c", fitted, "-o", out)
    assert again.code == 0, again.err
    pack = read_pack(out / "pack.json")
    assert pack.scoring.scale == ((0, 10), (40, 30.5), (100, 95))
    for level in pack.levels:
        for stage in level.stages:
            rates = {name: one.passed[stage.adds] / one.playouts for name, one in stage.difficulty.players.items()}
            blend = 100 * (1 - (2 * rates["casual"] + rates["expert"]) / 3)
            assert stage.difficulty.score == pytest.approx(mapped(pack.scoring.scale, blend), abs=0.002)
    assert command("verify", out / "pack.json").code == 0
    text = (out / "pack.json").read_text()
    broken = re.sub(r"\b40(\.0)?(,\s*30\.5)", r"0\2", text)
    assert broken != text
    (tmp_path / "broken.json").write_text(broken)
    assert "rise from 0 to 100" in command("verify", tmp_path / "broken.json").complaint
    fitted.write_text("[score.calibration]\npoints = [[0, 10], [40, 5], [100, 95]]\n")
    complaint = command("run", "-c", config, "-c", fitted, "-o", out).complaint
    assert "score.calibration.points" in complaint
    assert "never fall" in complaint
