"""The commands about boards, as a user meets them."""

import json
import os
import select
import signal
import subprocess
import sys
import termios
from itertools import count
from pathlib import Path

import pytest

from conftest import DATA, Command
from number_match.players import default_panel
from number_match.rules import RULESETS, Board, replay
from number_match.simulate import CHUNK, simulate
from number_match.threads import AHEAD, in_order

EXAMPLE = "316372222/5516"
OPENING = "518145871/636527126/958716539/27158326"


# ------------------------------------------------------------------------------------------------------------ solve


def test_solve_gives_min_adds_par_and_a_solution_that_replays(command: Command) -> None:
    found = json.loads(command("solve", f"{EXAMPLE} +2", "--json").out)
    assert list(found) == ["board", "adds", "verdict", "min_adds", "par", "solution", "nodes"]
    assert (found["board"], found["adds"], found["verdict"]) == (EXAMPLE, 2, "clearable")
    assert (found["min_adds"], found["par"]) == ({"lower": 1, "upper": 1}, {"lower": 7, "upper": 7})
    assert replay(Board.parse(f"{EXAMPLE} +1"), found["solution"]).cleared
    assert found["solution"].count("+") == 1
    assert len(found["solution"]) == 8


@pytest.mark.parametrize(
    ("board", "options", "verdict", "lower"),
    [
        ("123/456 +5", (), "unclearable", 6),
        ("12", ("--adds", "0"), "unclearable", 1),
        ("123 +1", ("--node-budget", "1"), "undecided", 1),
    ],
)
def test_what_was_not_found_has_no_upper_bound(
    command: Command, board: str, options: tuple[str, ...], verdict: str, lower: int
) -> None:
    found = json.loads(command("solve", board, "--ruleset", "width=3", *options, "--json").out)
    assert (found["verdict"], found["min_adds"]) == (verdict, {"lower": lower, "upper": None})
    assert (found["par"], found["solution"]) == (None, None)


def test_solve_minimises_actions_when_asked(command: Command) -> None:
    found = json.loads(command("solve", f"{EXAMPLE} +2", "--minimise", "actions", "--json").out)
    assert found["actions"]["lower"] <= found["actions"]["upper"] == len(found["solution"]) <= 8


def test_solve_in_words(command: Command) -> None:
    words = command("solve", f"{EXAMPLE} +2").out.split("\n")
    assert words[1:4] == ["verdict   clearable", "min Adds  1", "par       7"]


@pytest.mark.parametrize("workers", [1, 3])
def test_a_file_of_boards_is_answered_in_its_order(command: Command, tmp_path: Path, workers: int) -> None:
    boards = ["11", EXAMPLE, "12", "123 +0", "5" * 8, "1" * 7, "-"]
    path = tmp_path / "boards.txt"
    path.write_text("# boards\n\n" + "\n".join(boards) + "   # the last\n")
    outcome = command("solve", "--file", path, "--json", "--workers", workers)
    assert [json.loads(line)["board"] for line in outcome.out.splitlines()] == [board.split()[0] for board in boards]
    assert outcome.code == 0
    assert outcome.err == ""


def test_boards_are_read_from_stdin_and_adds_are_given_once_for_all() -> None:
    result = run_python("-m", "number_match", "solve", "--file", "-", "--adds", "1", "--json", text="111\n11 +1\n")
    assert [json.loads(line)["adds"] for line in result.stdout.splitlines()] == [1, 1]


# --------------------------------------------------------------------------------------------------------- simulate


def test_simulate_gives_the_pass_rate_of_every_allowance_with_its_interval(command: Command) -> None:
    arguments = ("simulate", OPENING, "--adds", 3, "--player", "random", "--playouts", 400, "--seed", 5, "--json")
    outcome = command(*arguments)
    found = json.loads(outcome.out)
    assert list(found) == ["board", "player", "playouts", "seed", "passed", "pass_rate", "low", "high"]
    assert (found["board"], found["player"], found["playouts"], found["seed"]) == (OPENING, "random", 400, 5)
    assert found["pass_rate"] == [round(passed / 400, 4) for passed in found["passed"]]
    assert len(found["passed"]) == 4
    for low, rate, high in zip(found["low"], found["pass_rate"], found["high"], strict=True):
        assert 0 <= low <= rate <= high <= 1
    assert command(*arguments).out == outcome.out


@pytest.mark.parametrize("workers", [1, 2])
def test_batches_of_playouts_add_up_to_those_of_one_range(command: Command, tmp_path: Path, workers: int) -> None:
    playouts, boards = 2 * CHUNK + 1, [f"{OPENING} +2", "12 +1"]
    path = tmp_path / "boards.txt"
    path.write_text("\n".join(boards))
    words = ("--player", "random", "--playouts", playouts, "--seed", 3, "--workers", workers, "--json")
    found = [json.loads(line)["passed"] for line in command("simulate", "--file", path, *words).out.splitlines()]
    for text, passed in zip(boards, found, strict=True):
        board = Board.parse(text)
        player = default_panel()["random"]
        whole = simulate(board, player, name="random", max_adds=board.adds, playouts=range(playouts), seed=3)
        assert passed == list(whole.passed)


def test_simulate_takes_the_allowance_of_the_board(command: Command) -> None:
    out = command("simulate", f"{EXAMPLE} +1", "--player", "random", "--playouts", 50).out
    assert [line.split()[0] for line in out.splitlines()] == ["board", "player", "+0", "+1"]


def test_a_board_that_is_too_large_is_refused_with_its_line(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "boards.txt"
    path.write_text("11\n" + "/".join(["123456789"] * 60) + "\n")
    for name in ("solve", "simulate"):
        outcome = command(name, "--file", path, "--json", *(["--player", "random"] if name == "simulate" else []))
        assert outcome.code == 2
        assert outcome.err.startswith(f"error: {path}:2: ")


# ------------------------------------------------------------------------------------------------------------- show


def test_show_gives_the_pairs_of_a_board_after_actions(command: Command) -> None:
    outcome = command("show", f"{EXAMPLE} +2", "--play", "1-11 + 2-12", "--json")
    board = replay(Board.parse(f"{EXAMPLE} +2"), ["1-11", "+", "2-12"])
    assert json.loads(outcome.out) == {
        "board": board.text,
        "adds": 1,
        "pairs": [f"{i}-{j}" for i, j in board.pairs()],
        "cleared": False,
        "stuck": False,
    }


@pytest.mark.parametrize(
    ("board", "ruleset", "cleared", "stuck"),
    [("11", "width=9", True, False), ("12", "width=9", False, True), ("12 +1", "width=9", False, False)],
)
def test_show_says_cleared_and_stuck(command: Command, board: str, ruleset: str, cleared: bool, stuck: bool) -> None:
    play = ["--play", "0-1"] if cleared else []
    found = json.loads(command("show", board, "--ruleset", ruleset, *play, "--json").out)
    assert (found["cleared"], found["stuck"]) == (cleared, stuck)


def test_show_draws_a_board_and_names_its_links(command: Command) -> None:
    out = command("show", f"{EXAMPLE} +1").out
    assert "7   2───2───2───2" in out
    assert "  1-11      1 1   diagonal" in out
    assert "13 active cells, 1 Add left, 7 pairs" in out


def test_show_draws_a_stage_of_a_pack_with_its_allowance(command: Command) -> None:
    found = json.loads(command("show", DATA / "example.pack.json", "L001-S01", "--json").out)
    assert (found["board"], found["adds"]) == (EXAMPLE, 2)


# ------------------------------------------------------------------------------------------------------------ perft


def test_perft_counts_sequences_of_actions(command: Command) -> None:
    expected = (DATA / "perft" / "midgame.perft").read_text().splitlines()
    board = expected[1].removeprefix("board ")
    assert command("perft", board, "--depth", 2).out.strip() == expected[3]
    assert json.loads(command("perft", board, "--depth", 2, "--json").out)["count"] == int(expected[3].split()[2])


@pytest.mark.parametrize("ruleset", [name for name in RULESETS if (DATA / "perft" / f"{name}.perft").exists()])
def test_a_perft_file_is_counted_under_the_ruleset_it_is_named_after(command: Command, ruleset: str) -> None:
    outcome = command("perft", "--file", DATA / "perft" / f"{ruleset}.perft")
    assert outcome.code == 0, outcome
    assert f"rows agree, under {ruleset}" in outcome.out


def test_a_wrong_row_of_a_perft_file_is_named_and_fails(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.perft"
    path.write_text("id one\nboard 11 +0\nperft 1 1 9bebe0190e5d7e57\nperft 1 2 0000000000000000\n")
    outcome = command("perft", "--file", path)
    assert outcome.code == 1
    assert f"{path}:4: one: perft 1 is 1 " in outcome.out
    rows = [json.loads(line) for line in command("perft", "--file", path, "--json").out.splitlines()]
    assert [row["ok"] for row in rows].count(False) >= 1


# ----------------------------------------------------------------------------------------------------------- schema


def test_schema_prints_what_is_kept_in_the_repository(command: Command) -> None:
    for name in ("pack", "config"):
        printed = json.loads(command("schema", name).out)
        assert printed["$schema"].endswith("2020-12/schema")
        assert printed["properties"]


# ---------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "12x"), "at 2: 'x' is not a digit"),
        (("show", "12/34"), "row 1 has 2 cells, expected 9"),
        (("show", ""), "expected a board"),
        (("show", "12 +1", "--adds", "2"), "the board says +1 and --adds says 2"),
        (("show", "12", "--ruleset", "hexagonal"), "'hexagonal' is neither a known id"),
        (("show", "12", "--ruleset", "width=0"), "width 0"),
        (("show", "12", "--play", "0-1"), "neither equal nor sum to 10"),
        (("show", "12", "--play", "zero"), "expected a pair i-j"),
        (("show", "12", "--adds", "-1"), "--adds is '"),
        (("show", str(DATA / "example.pack.json")), "name a Stage of it"),
        (("show", str(DATA / "example.pack.json"), "L9"), "expected one of L001-S01"),
        (("show", "nowhere.json", "L1"), "nowhere.json: cannot be read"),
        (("perft", "12"), "--depth is needed"),
        (("perft", "--depth", "2"), "expected one board, or --file"),
        (("perft", "12", "--file", "x", "--depth", "2"), "expected one board, or --file"),
        (("perft", "--file", "nowhere.txt", "--depth", "2"), "nowhere.txt: cannot be read"),
        (("solve", "123", "--node-budget", "0"), "--node-budget is '"),
        (("solve", "12", "--minimise", "time"), "'adds', 'actions'"),
        (("simulate", "12", "--player", "nobody"), "'nobody' is not in the default panel"),
        (("simulate", "12", "--playouts", "many"), "--playouts is 'many'"),
        (("schema", "board"), "'pack', 'config'"),
        (("resolve", "12"), "No such command 'resolve'"),
        (("show",), "Missing argument"),
    ],
)
def test_a_mistake_is_one_clear_message(command: Command, arguments: tuple[str, ...], said: str) -> None:
    complaint = command(*arguments).complaint
    assert said in complaint
    assert "\n" not in complaint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "no board in it"),
        (b"# nothing\n\n", "no board in it"),
        (b"12\n# fine\n1a # bad\n", ":3: '1a' at 1"),
        (b"12\n\xff\n", "byte 3 is not UTF-8"),
        (b"12 +1\n12 +3\n", ":1: the board says +1 and --adds says 3"),
    ],
)
def test_a_bad_file_of_boards_is_refused_before_the_first_answer(
    command: Command, tmp_path: Path, text: bytes, said: str
) -> None:
    path = tmp_path / "boards.txt"
    path.write_bytes(text)
    complaint = command("solve", "--file", path, "--adds", 3, "--json").complaint
    assert complaint.startswith(str(path))
    assert said in complaint


# --------------------------------------------------------------------------------------------------------- the frame


def run_python(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], input=text, capture_output=True, text=True, check=False)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from number_match import cli\n"
        "assert cli.run(['--help']) == 0\n"
        "heavy = {'numba', 'numpy', 'polars', 'scipy', 'altair', 'pydantic', 'tqdm'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    result = run_python("-c", code)
    assert result.returncode == 0, result.stderr
    for name in ("solve", "simulate", "show", "perft", "schema"):
        assert f" {name} " in result.stdout


def test_the_version_is_printed_and_the_module_is_the_command() -> None:
    from number_match import __version__

    assert run_python("-m", "number_match", "--version").stdout.strip() == __version__
    assert run_python("-m", "number_match", "--versoin").returncode == 2
    assert run_python("-m", "number_match").returncode == 2


def test_a_reader_that_has_enough_is_no_error() -> None:
    command = [sys.executable, "-m", "number_match", "show", "/".join("5" * 1500), "--ruleset", "width=1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    os.read(process.stdout.fileno(), 10)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait()


def test_solve_tells_the_structure_when_asked(command: Command) -> None:
    outcome = command("solve", "545333 +1", "--structure", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["structure"] == {
        "needs_early_add": True,
        "openings": 2,
        "good_openings": 0,
        "forced": 2,
        "links": {"row": 5, "column": 0, "diagonal": 1, "wrap": 0},
    }
    shown = command("solve", "545333 +1", "--structure").out
    assert "early Add yes\n" in shown
    assert "openings  0 of 2 pairs keep min Adds\n" in shown
    assert json.loads(command("solve", "123", "--structure", "--json").out)["structure"] is None


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full, a device that is always full")
def test_a_full_disk_behind_the_output_is_one_message() -> None:
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "number_match", "show", "11"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert run.returncode == 2
    assert run.stderr.splitlines() == ["error: the output cannot be written: No space left on device"]


# ------------------------------------------------------------------------------------------------------ interrupted


def test_simulate_shows_how_far_it_is_and_ends_when_interrupted() -> None:
    """10^9 playouts take more than an hour."""
    terminal, end = os.openpty()
    termios.tcsetwinsize(end, (24, 100))
    words = ("simulate", f"{OPENING} +3", "--playouts", "1000000000", "--workers", "1")
    running = subprocess.Popen([sys.executable, "-m", "number_match", *words], stdout=subprocess.PIPE, stderr=end)
    os.close(end)
    said = b""
    while b"playouts/s" not in said:
        assert select.select([terminal], [], [], 120)[0], said
        said += os.read(terminal, 1000)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    while select.select([terminal], [], [], 0)[0]:
        try:
            said += os.read(terminal, 1000)
        except OSError:  # the other end is closed, and all was read
            break
    os.close(terminal)
    assert (running.returncode, out) == (130, b"")
    assert said.split()[-1] == b"interrupted"


@pytest.mark.parametrize(
    "words", [("solve", "--adds", "9", "--node-budget", "1000000000000"), ("perft", "--depth", "20", "--adds", "1")]
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_board_that_takes_hours_is_not_waited_for_when_interrupted(
    tmp_path: Path, words: tuple[str, ...], number: int, code: int
) -> None:
    path = tmp_path / "boards.txt"
    path.write_text(f"11\n{OPENING}\n{OPENING}\n")
    running = subprocess.Popen(
        [sys.executable, "-u", "-m", "number_match", *words, "--file", str(path), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert json.loads(running.stdout.readline())["board"] == "11"  # the second is worked on
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (code, "")
    assert err.endswith("\ninterrupted\n")  # before it, kernels may have been compiled


def test_tasks_are_begun_a_few_ahead_and_dropped_when_one_fails() -> None:
    begun = []

    def work(number: int) -> float:
        begun.append(number)
        return 1 / (3 - number)

    results = in_order(work, count(), 1)  # there is no end of them
    assert [next(results) for _ in range(3)] == [(0, 1 / 3), (1, 1 / 2), (2, 1.0)]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert begun == list(range(len(begun)))
    assert len(begun) <= AHEAD + 3


def test_the_help_of_solve_says_what_no_allowance_means(command: Command) -> None:
    assert "A board without +N or --adds allows no Add" in " ".join(command("solve", "--help").out.split())
