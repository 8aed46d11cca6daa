"""The commands about boards, as a user meets them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import DATA, Command
from number_match.rules import RULESETS, Board, replay

EXAMPLE = "316372222/5516"
OPENING = "518145871/636527126/958716539/27158326"


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
        (("show", "12", "--adds", "-1"), "'--adds'"),
        (("show", str(DATA / "example.pack.json")), "name a Stage of it"),
        (("show", str(DATA / "example.pack.json"), "L9"), "its first one is L001-S01"),
        (("show", "nowhere.json", "L1"), "nowhere.json: cannot be read"),
        (("perft", "12"), "--depth is needed"),
        (("perft", "--depth", "2"), "expected one board, or --file"),
        (("perft", "12", "--file", "x", "--depth", "2"), "expected one board, or --file"),
        (("perft", "--file", "nowhere.txt", "--depth", "2"), "nowhere.txt: cannot be read"),
        (("solve", "123", "--node-budget", "0"), "'--node-budget'"),
        (("solve", "12", "--minimise", "time"), "'adds', 'actions'"),
        (("simulate", "12", "--player", "nobody"), "'nobody' is not in the default panel"),
        (("simulate", "12", "--playouts", "many"), "'--playouts'"),
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
