"""The survey: boards are held to the exhaustive solver, intervals to what they claim, files to their bytes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

import plain_solver
from conftest import Command
from number_match import survey_boards
from number_match.players import default_panel
from number_match.rules import VEYRA_1, Board, Ruleset, class_counts
from number_match.simulate import simulate, wilson
from number_match.solve import Bounds, solve
from number_match.store import Store
from number_match.survey_boards import Survey
from number_match.survey_figures import SUMMARY, Counts, clustered, summary
from test_faults import end_of, wait_for

TINY = ("--size", 9, "--size", 12, "--boards", 40, "--playouts", 3)
Make = Callable[..., Path]


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process; workers are given ranges and read no shard size."""
    monkeypatch.setattr(survey_boards, "SHARD", 15)


@pytest.fixture
def make(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Run `survey` with arguments into a folder, without drawing the chart, and return the folder."""
    monkeypatch.setattr("number_match.report.charts.png", lambda chart: b"a chart")

    def run(*arguments: object, folder: str = "survey") -> Path:
        outcome = command("survey", *arguments, "-o", tmp_path / folder, "--engine", "inline")
        assert outcome.code == 0, outcome
        return tmp_path / folder

    return run


def boards_of(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "boards" / "*.parquet").sort("cells", "number")


def rows_of(survey: Survey) -> pl.DataFrame:
    """The boards of a survey that is not written."""
    return pl.concat(job.table(Store(Path()))[0] for job in survey.jobs(Path()))


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything but what tells of times."""
    kept = {"survey.json", ".lock"}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in kept
    }


def figure(table: pl.DataFrame, name: str, cells: int, adds: int, player: str | None = None) -> dict[str, object]:
    rows = table.filter(figure=name, cells=cells, adds=adds).filter(pl.col("player").eq_missing(player))
    return rows.row(0, named=True)


# the boards


def test_min_adds_are_those_of_the_exhaustive_solver(make: Make) -> None:
    table = boards_of(make(*TINY, "--seed", 2))
    assert table.height == 80
    assert table["problem"].null_count() == 80
    found = {0: 0, 1: 0, 2: 0}
    for text, lower, upper in table.select("board", "min_adds_lower", "min_adds_upper").iter_rows():
        truth = plain_solver.exact(Board.parse(text).with_adds(1)).min_adds
        assert (lower, upper) == (truth, truth) if truth is not None else lower >= 2
        found[2 if truth is None else truth] += 1
    assert all(found.values()), found


def test_stopping_at_the_verdict_bounds_min_adds_as_well() -> None:
    """The survey does not ask for par."""
    for text in rows_of(Survey((12, 18), 15, 3, 0, 5, VEYRA_1))["board"]:
        for budget in (20, 200, 10**6):
            board = Board.parse(text).with_adds(3)
            whole, short = solve(board, node_budget=budget), solve(board, node_budget=budget, verdict_only=True)
            assert short.min_adds == whole.min_adds


def test_a_smaller_allowance_that_is_left_open_is_asked_about_by_itself() -> None:
    """With an Add allowed, a quarter of the budget is for a clear without."""
    board = Board.parse("129886825/341765755/264577322/732111845 +3")
    assert solve(board, node_budget=500_000, verdict_only=True).min_adds == Bounds(0, 1)
    assert survey_boards._bounds(board, 500_000)[:2] == (1, 1)


def test_boards_are_random_and_those_of_a_size_its_own() -> None:
    texts = {cells: rows_of(Survey((cells,), 1500, 0, 0, 1, VEYRA_1))["board"].to_list() for cells in (6, 12)}
    digits = np.array([list(map(int, text.replace("/", ""))) for text in texts[12]])
    counts = np.bincount(digits.ravel(), minlength=10)[1:]
    assert abs(counts - digits.size / 9).max() < 4 * (digits.size * 8 / 81) ** 0.5
    assert sum(long.startswith(short) for short, long in zip(texts[6], texts[12], strict=True)) < 3


@pytest.mark.parametrize("cells", [6, 9])
def test_the_share_of_even_boards_is_as_it_must_be(cells: int) -> None:
    """Four classes have two digits of nine, one has one: the mean over all signs of (sum of signed chances)^cells."""
    signs = np.array(np.meshgrid(*[[1, -1]] * 5)).reshape(5, -1)
    chance = float(((np.array([2, 2, 2, 2, 1]) / 9 @ signs) ** cells).mean())
    survey = Survey((cells,), 1500, 0, 0, 1, VEYRA_1)
    table, counts = rows_of(survey), Counts()
    for text, even in table.select("board", "even").iter_rows():
        assert even == all(count % 2 == 0 for count in class_counts(Board.parse(text)))
    counts.take(table, survey)
    row = summary(survey, {cells: counts}).filter(figure="even").row(0, named=True)
    assert row["least"] == row["most"] == table["even"].sum()
    assert row["low"] <= chance + 1e-12
    assert chance <= row["high"]
    assert cells % 2 == 0 or row["least"] == 0


def test_a_board_is_played_by_its_number() -> None:
    """So that equal boards are played differently, and one after the other go through all numbers."""
    board = Board.parse("518145871/636527126 +3")
    survey = Survey((18,), 2, 3, 40, 1, VEYRA_1)
    first, second = (survey_boards._row(survey, number, board)["passed_casual"] for number in (0, 1))
    both = simulate(
        board, default_panel()["casual"], name="casual", max_adds=3, playouts=range(80), seed=1, stream="survey"
    )
    assert first != second
    assert tuple(map(sum, zip(first, second, strict=True))) == both.passed


# the figures


def test_the_summary_counts_what_is_in_the_boards(make: Make) -> None:
    folder = make(*TINY)
    table, figures = boards_of(folder), pl.read_parquet(folder / "summary.parquet")
    assert figures.schema == SUMMARY
    for cells in (9, 12):
        rows = list(table.filter(cells=cells).iter_rows(named=True))
        for adds in range(4):
            row = figure(figures, "clearable", cells, adds)
            assert row["least"] == row["most"] == sum(board["min_adds_upper"] <= adds for board in rows)
            exactly = figure(figures, "min_adds", cells, adds)
            assert exactly["least"] == sum(board["min_adds_lower"] == adds for board in rows)
            for player in ("newcomer", "expert", "random"):
                rates = [board[f"passed_{player}"][adds] for board in rows]
                row = figure(figures, "pass_rate", cells, adds, player)
                assert (row["least"], row["of"], row["boards"]) == (sum(rates), 120, 40)
        assert figure(figures, "min_adds_above", cells, 3)["most"] == 0


def test_undecided_boards_count_both_ways() -> None:
    """Ten boards: two need no Add, one of them proved only to need at most 1, and so on; each interval is Wilson's of
    the fewest at its lower end, and of the most at its upper one."""
    counts = Counts(boards=10)
    counts.bounds.update({(0, 0, True): 2, (0, 1, True): 1, (1, 1, False): 3, (1, None, False): 2, (2, None, False): 2})
    expected = {
        ("clearable", 0): (2, 3),
        ("clearable", 1): (6, 8),
        ("clearable", 2): (6, 10),
        ("min_adds", 0): (2, 3),
        ("min_adds", 1): (3, 6),
        ("min_adds", 2): (0, 4),
        ("min_adds_above", 2): (0, 4),
        ("clearable_of_even", 0): (2, 3),
    }
    figures = summary(Survey((12,), 10, 2, 0, 1, VEYRA_1), {12: counts})
    for (name, adds), (least, most) in expected.items():
        row = figure(figures, name, 12, adds)
        of = 3 if name == "clearable_of_even" else 10
        assert (row["least"], row["most"], row["of"]) == (least, most, of), name
        assert row["low"] == pytest.approx(binomtest(least, of).proportion_ci(method="wilson").low, abs=1e-6)
        assert row["high"] == pytest.approx(binomtest(most, of).proportion_ci(method="wilson").high, abs=1e-6)


def test_a_small_budget_leaves_the_truth_between_the_ends(make: Make) -> None:
    arguments = ("--size", 12, "--boards", 120, "--playouts", 0)
    whole, poor = (
        pl.read_parquet(make(*arguments, "--node-budget", budget, folder=f"{budget}") / "summary.parquet")
        for budget in (10**6, 12)
    )
    for truth, seen in zip(whole.iter_rows(named=True), poor.iter_rows(named=True), strict=True):
        assert seen["least"] <= truth["least"] == truth["most"] <= seen["most"]
        assert seen["low"] <= truth["low"] <= truth["high"] <= seen["high"]
    assert (poor["most"] > poor["least"]).any()


def test_a_clear_that_does_not_replay_counts_as_undecided(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_boards, "check", lambda result: "planted" if "1" in result.board.text else "")
    folder = make("--size", 9, "--boards", 30, "--playouts", 0)
    bad = boards_of(folder).filter(problem="planted")
    assert 0 < bad.height < 30
    row = figure(pl.read_parquet(folder / "summary.parquet"), "clearable", 9, 3)
    assert (row["least"], row["most"]) == (30 - bad.height, 30)


def test_the_interval_of_pass_rates_holds_for_boards_that_differ() -> None:
    """Boards' rates are drawn from a beta distribution: nineteen of twenty intervals hold its mean; those that take
    playouts for the sample hold it far less often."""
    rng = np.random.default_rng(7)
    for mean, boards, playouts in ((0.5, 60, 20), (0.1, 200, 20), (0.9, 200, 5)):
        held = naive = 0
        for _ in range(800):
            rates = rng.beta(2 * mean, 2 * (1 - mean), boards)
            passed = rng.binomial(playouts, rates)
            total, squares = int(passed.sum()), int((passed * passed).sum())
            low, high = clustered(total, squares, boards, playouts)
            held += low <= mean <= high
            low, high = wilson(total, boards * playouts)
            naive += low <= mean <= high
        assert 0.93 <= held / 800 <= 0.975
        assert naive / 800 < 0.8


def test_the_interval_of_pass_rates_at_its_ends() -> None:
    assert clustered(0, 0, 50, 20) == wilson(0, 50)
    assert clustered(1000, 50 * 400, 50, 20) == wilson(50, 50)
    assert clustered(400, 20 * 400, 50, 20) == pytest.approx(wilson(19.6, 49))  # all or nothing: boards are the sample
    assert clustered(505, 45 * 100 + 5 * 121, 50, 20) == wilson(505, 1000)  # boards alike
    assert clustered(500, 50 * 100, 50, 20) == wilson(500, 1000)
    low, high = clustered(3, 9, 1, 20)
    assert 0 < low < 0.15 < high < 1


# the files


def test_same_bytes_whatever_does_the_work(make: Make, tmp_path: Path) -> None:
    arguments = (*TINY, "--engine", "local", "-o")
    one = make(*TINY, folder="one")
    for workers in (1, 2):
        words = [*arguments, tmp_path / f"w{workers}", "--workers", workers]
        environment = os.environ | {"PYTHONHASHSEED": str(workers)}
        subprocess.run([sys.executable, "-c", RUN, *map(str, words)], env=environment, check=True, capture_output=True)
        assert files_of(tmp_path / f"w{workers}") == files_of(one)


RUN = """
import sys
from number_match import cli, survey_boards
import number_match.report.charts as charts
if __name__ == "__main__":
    survey_boards.SHARD = 15
    charts.png = lambda chart: b"a chart"
    sys.exit(cli.run(["survey", *sys.argv[1:]]))
"""


def test_more_boards_and_sizes_extend_a_survey(make: Make) -> None:
    folder = make(*TINY)
    before = boards_of(folder)
    make("--size", 9, "--size", 12, "--size", 4, "--boards", 70, "--playouts", 3)
    after = boards_of(folder)
    assert after.group_by("cells").len().sort("cells").rows() == [(4, 70), (9, 70), (12, 70)]
    assert after.filter(pl.col("cells") != 4, pl.col("number") < 40).equals(before)
    fresh = make("--size", 4, "--size", 9, "--size", 12, "--boards", 70, "--playouts", 3, folder="fresh")
    assert files_of(folder) == files_of(fresh)


def test_what_is_finished_is_left_alone(make: Make, command: Command) -> None:
    folder = make(*TINY)
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    outcome = command("survey", *TINY, "-o", folder)
    assert (outcome.code, outcome.err) == (0, f"{folder}: nothing to do; this survey is finished\n")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == times
    assert "12     newcomer" in outcome.out


@pytest.mark.parametrize("harm", ["truncated", "other rows", "removed", "chart", "record"])
def test_what_is_harmed_is_made_again(make: Make, command: Command, harm: str) -> None:
    folder = make(*TINY)
    whole = files_of(folder)
    first, second = sorted((folder / "boards").glob("*.parquet"))[:2]
    if harm == "truncated":
        first.write_bytes(first.read_bytes()[:-20])
    elif harm == "other rows":
        data = bytearray(first.read_bytes())
        data[40] ^= 1
        first.write_bytes(bytes(data))
        (folder / "survey.md").unlink()  # shards are read when there is something to write
    elif harm == "removed":
        second.unlink()
    elif harm == "chart":
        (folder / "survey.png").write_bytes(b"")
    else:
        (folder / "survey.json").write_text("{")
    outcome = command("survey", *TINY, "-o", folder, "--engine", "inline")
    assert outcome.code == 0
    assert ("damaged" in outcome.err) == (harm in ("truncated", "other rows"))
    assert files_of(folder) == whole


def test_a_folder_of_something_else_is_refused(make: Make, command: Command, tmp_path: Path) -> None:
    folder = make(*TINY)
    whole = files_of(folder)
    for changed, told in (
        (("--seed", 2), "seed 1 → 2"),
        (("--max-adds", 2), "max-adds 3 → 2"),
        (("--playouts", 4), "playouts 3 → 4"),
        (("--node-budget", 9), "node-budget 1000000 → 9"),
        (("--ruleset", "no-wrap"), '[ruleset].wrap "1" → "0"'),
    ):
        complaint = command("survey", *TINY, *changed, "-o", folder).complaint
        assert f"{folder}: holds a survey of other settings" in complaint
        assert told in complaint
        assert "\n" not in complaint
    assert files_of(folder) == whole
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    assert "holds a run" in command("survey", *TINY, "-o", tmp_path / "run").complaint
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--size", 0), "--size"),
        (("--size", 257), "--size"),
        (("--engine", "dask"), "--scheduler"),
        (("--scheduler", "tcp://here:1"), "--engine dask"),
        (("--engine", "cloud"), "'cloud'"),
        (("--ruleset", "width=0"), "width"),
        (("--workers", 5000), "--workers"),
    ],
)
def test_bad_usage_is_one_message(command: Command, tmp_path: Path, arguments: tuple[object], told: str) -> None:
    assert told in command("survey", *arguments, "-o", tmp_path / "survey").complaint
    assert not (tmp_path / "survey").exists()


LONG = ("--size", "12", "--boards", "3000", "--playouts", "3", "--workers", "1")


def start(out: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "number_match", "survey", *LONG, "-o", str(out)]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)


def test_an_interrupted_survey_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    """Killed, then stopped by Ctrl-C, then let run."""
    out, whole = tmp_path / "survey", tmp_path / "whole"
    for number, code, shard in ((signal.SIGKILL, -signal.SIGKILL, 0), (signal.SIGINT, 130, 2)):
        running = start(out)
        wait_for(out, f"boards/12-{500 * shard:08}-*.parquet", running)
        running.send_signal(number)
        said = end_of(running)
        assert running.returncode == code
        assert "Traceback" not in said
    assert (
        f"go on with: number-match survey --size 12 --boards 3000 --max-adds 3 --playouts 3 --seed 1 -o {out}" in said
    )
    assert 2 < len(list(out.glob("boards/12-*.parquet"))) < 6
    for folder in (out, whole):
        assert end_of(start(folder)).endswith(" s\n")
    assert files_of(out) == files_of(whole)
    assert files_of(out)["survey.png"].startswith(b"\x89PNG")


def test_json_is_the_summary(make: Make, command: Command) -> None:
    folder = make(*TINY)
    outcome = command("survey", *TINY, "-o", folder, "--json", "--quiet")
    assert outcome.err == ""
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert rows == pl.read_parquet(folder / "summary.parquet").to_dicts()


def test_the_page_says_how_it_was_made(make: Make) -> None:
    """The command on it makes the same page."""
    rules = Ruleset.parse("width=4,diagonal=false")
    folder = make("--size", 6, "--boards", 20, "--playouts", 2, "--seed", 3, "--ruleset", "width=4,diagonal=false")
    page = (folder / "survey.md").read_text("utf-8")
    command = next(line.split() for line in page.splitlines() if line.startswith("    number-match survey "))
    assert files_of(make(*command[2:], folder="again")) == files_of(folder)
    assert rules.id in page
    row = pl.read_parquet(folder / "summary.parquet").filter(figure="clearable", adds=1).row(0, named=True)
    assert 0 < row["low"] < row["high"] < 1
    assert f"{100 * row['share']:.2f} ({100 * row['low']:.2f}–{100 * row['high']:.2f})" in page
