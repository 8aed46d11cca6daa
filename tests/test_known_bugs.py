"""The kinds of bug that programs like this one have had, each as a test named for its symptom.

`test_planted_bugs.py` plants every one of them and sees its test fail.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from breaking import changed, load, puzzle, stage, write
from number_match import cli, difficulty, files, generate, identity, models, perft, simulate, solve, store, validate
from number_match.config import Family
from number_match.players import Player
from number_match.rules import VEYRA_1, Board, named
from number_match.verify import verify
from test_run import TINY

OPENING = "518145871/636527126/958716539/27158326"
NARROW = named(width=3)


def rules_and_kernels(board: Board) -> tuple[int, int]:
    """How many pairs the plain rules and the compiled ones see, without the Add."""
    alone = board.with_adds(0)
    return len(alone.pairs()), perft.count(alone, 1)[0]


def test_diagonals_leak_round_the_edge() -> None:
    for text in ("........1/5......../1........", "15......1"):
        assert rules_and_kernels(Board.parse(text)) == (0, 0), text


def test_two_rows_collapse_at_once() -> None:
    board = Board.parse("1......../.5......./9........ +1")
    assert board.play("0-18").text == ".5......."
    assert board.play("0-18").play("+").text == ".5......./5"
    assert Board.parse("1.1/5.5", NARROW).play("0-2").play("0-2").cleared
    assert perft.count(board, 2) == _plain_perft(board, 2)


def test_add_comes_after_trailing_holes_and_after_a_short_row_that_collapsed() -> None:
    assert Board.parse("123/4. +1", NARROW).play("+").text == "123/4.1/234"
    assert Board.parse("123/9 +1", NARROW).play("0-3").play("+").text == ".23/23"
    for text in ("123/4. +1", "123/9 +1"):
        board = Board.parse(text, NARROW)
        for depth in (1, 2, 3):
            assert perft.count(board, depth) == _plain_perft(board, depth)


def _plain_perft(board: Board, depth: int) -> tuple[int, int]:
    from number_match.rules import perft as plain

    return plain(board, depth)


def test_a_pair_joined_by_two_links_is_counted_twice() -> None:
    board = Board.parse("1/1", named(width=1))
    assert board.links(0, 1) == ("column", "wrap")
    assert board.pairs() == ((0, 1),)
    assert rules_and_kernels(board) == (1, 1)


def test_adds_left_are_missing_from_a_table() -> None:
    """A board that was seen to be dead without an Add is not dead with one, asked in either order."""
    for allowances in ((0, 1, 2), (2, 1, 0)):
        verdicts = {adds: solve.solve(Board.parse("1234321 +0").with_adds(adds)).verdict for adds in allowances}
        assert verdicts == {0: "unclearable", 1: "clearable", 2: "clearable"}


@pytest.mark.parametrize("budget", [1, 2, 3, 10])
def test_a_time_out_is_called_unclearable(budget: int) -> None:
    board = Board.parse(f"{OPENING} +5")
    result = solve.solve(board, node_budget=budget)
    assert result.verdict != "unclearable"
    assert (result.verdict == "clearable") == (result.solution is not None)
    assert result.min_adds.lower <= 1  # what is proved is true: one Add is enough


def test_a_hard_stage_is_easier_than_an_easy_one(tmp_path: Path) -> None:
    bands = [("easy", 0.0), ("normal", 20.0), ("hard", 40.0)]
    order = [name for name, _ in bands]
    places = [order.index(difficulty.band(score, bands)) for score in range(0, 100_001, 500)]
    assert places == sorted(places)
    assert set(places) == {0, 1, 2}
    scores = [difficulty.score({"a": ([passed], 100)}, 0, {"a": 1}) for passed in range(101)]
    assert scores == sorted(scores, reverse=True)
    inverted = changed(load(), lambda d: stage(d, 5)["difficulty"].update(band=stage(d, 0)["difficulty"]["band"]))
    assert "band" in {finding.rule for finding in verify(write(inverted, tmp_path / "x.pack.json")).broken}


def test_duplicates_by_renaming_slip_in(tmp_path: Path) -> None:
    board, renamed, other = map(Board.parse, ("123456789/555", "293456718/555", "123456789/556"))
    assert identity.puzzle_id(board) != identity.puzzle_id(renamed)
    assert identity.canonical_id(board) == identity.canonical_id(renamed) != identity.canonical_id(other)
    twice = changed(load(), lambda d: puzzle(d, 1).update(board=puzzle(d)["board"].translate({49: "9", 57: "1"})))
    assert "duplicate" in {finding.rule for finding in verify(write(twice, tmp_path / "x.pack.json")).broken}


def test_a_seed_is_cut_to_32_bits() -> None:
    board = Board.parse(OPENING)
    runs = [
        simulate.simulate(board, Player(kind="random"), name="random", max_adds=5, playouts=range(300), seed=seed)
        for seed in (1, 1 + 2**32, 1 + 2**48)
    ]
    assert len({(run.passed, run.actions) for run in runs}) == 3
    keys = identity.stream_keys(1, "score", "p", "random", "report", range(100))
    assert int(keys.max()) > 2**60
    assert len({int(key) & 0xFFFFFFFF for key in keys}) == 100


def test_level_n_depends_on_level_n_minus_1() -> None:
    """A candidate is the same whether the ones before it were made or not."""
    family = Family(name="f", cells=(8, 12))

    def boards(numbers: range) -> list[str]:
        return generate.random_boards(family, family.sizes, numbers, VEYRA_1, 1)["board"].to_list()

    assert boards(range(10))[7:] == boards(range(7, 10)) == [*boards(range(7, 8)), *boards(range(8, 10))]
    assert len(set(boards(range(10)))) == 10


def test_the_validator_trusts_the_generators_own_solution(tmp_path: Path) -> None:
    board = Board.parse("316372222/5516 +2")
    result = solve.solve(board)
    assert validate.check(result) == ""
    assert result.solution is not None
    lie = solve.SolveResult(board, "clearable", result.min_adds, result.par, result.solution[::-1], result.nodes)
    assert "does not replay" in validate.check(lie)
    wrong = changed(load(), lambda d: stage(d)["solution"].reverse())
    assert "solution" in {finding.rule for finding in verify(write(wrong, tmp_path / "x.pack.json")).broken}


def test_titles_that_are_not_ascii_break_files_and_terminals(tmp_path: Path) -> None:
    title = "Ünïcode, кириллица, 例え, \u202e, 🙂"
    path = tmp_path / "x.pack.json"
    document = changed(load(), lambda d: d.update(title=title))
    pack = models.parse_pack(write(document, path).read_bytes(), "x")
    files.save(path, models.pack_text(pack).encode())
    assert models.read_pack(path).title == title
    assert verify(path).findings == ()
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = subprocess.run(
        [sys.executable, "-m", "number_match", "verify", path], env=environment, capture_output=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"clean (quick, 6 Stages, \\xdcn\\xefcode" in ended.stdout


def test_a_second_resume_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "tiny.toml"
    config.write_text(TINY, encoding="utf-8")

    def run(folder: str) -> int:
        return cli.run(["run", "-c", str(config), "-o", str(tmp_path / folder), "--quiet"])

    assert run("whole") == 0
    real, written = store.Store.write, []

    def write_some(self: store.Store, *arguments: object) -> None:
        written.append(arguments)
        if len(written) % 4 == 0:
            raise KeyboardInterrupt
        real(self, *arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(store.Store, "write", write_some)
        assert [run("cut") for _ in range(3)] == [130, 130, 130]
    assert run("cut") == 0
    whole, cut = (tmp_path / name / "pack.json" for name in ("whole", "cut"))
    assert whole.read_bytes() == cut.read_bytes()
