"""Runs from config to pack: the same bytes whatever the way there, nothing done twice, and what is wrong said
plainly."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from conftest import Command
from number_match import models, tables
from number_match.rules import Board, replay

TINY = """
[generate]
candidates = 90
[[generate.families]]
name = "small"
cells = [6, 9]
share = 2
[[generate.families]]
name = "even"
cells = [8, 10]
parity = "even"
[[generate.families]]
name = "few"
cells = [2, 3]
[rules]
adds = [0, 3]
[validate]
node_budget = 3000
[score]
reference = "random"
panel = ["random"]
screen = { playouts = 60 }
select = { playouts = 200 }
report = { playouts = 300 }
[assemble]
levels = 2
stages = 3
tolerance = 10
curve = { kind = "linear", start = 10, end = 60 }
[run]
engine = "inline"
shard_size = 20
"""

pytestmark = pytest.mark.usefixtures("no_page")
Make = Callable[..., Path]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    return path


@pytest.fixture
def make(command: Command, tiny: Path, tmp_path: Path) -> Make:
    """Run the tiny config with settings over it into a folder, and return the folder."""

    def run(*settings: str, folder: str = "run") -> Path:
        out = tmp_path / folder
        outcome = command("run", "-c", tiny, "-o", out, *(word for setting in settings for word in ("--set", setting)))
        assert outcome.code == 0, outcome
        return out

    return run


def process(*arguments: object, hash_seed: int = 0, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    ended = subprocess.run(
        [sys.executable, "-m", "number_match", *map(str, arguments)],
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code, ended
    return ended


def shards(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.glob("*/*-*.parquet")}


def test_a_run_makes_a_true_pack(make: Make) -> None:
    folder = make()
    pack = models.read_pack(folder / "pack.json")
    assert [len(level.stages) for level in pack.levels] == [3, 3]
    puzzles = {puzzle.id: puzzle for puzzle in pack.puzzles}
    assert len(puzzles) == len({puzzle.canonical for puzzle in pack.puzzles}) == 6
    assert [stage.puzzle for level in pack.levels for stage in level.stages] == list(puzzles)
    assert [stage.difficulty.target for level in pack.levels for stage in level.stages] == [10, 20, 30, 40, 50, 60]
    for level in pack.levels:
        for stage in level.stages:
            board = Board.parse(puzzles[stage.puzzle].board).with_adds(stage.adds)
            assert replay(board, stage.solution).cleared
            counts = stage.difficulty.players["random"]
            assert counts.playouts == 300
            assert stage.difficulty.score == round(100 * (1 - counts.passed[stage.adds] / 300), 3)
    assert isinstance(models.read_any(folder / "pack.client.json"), models.ClientPack)


def test_same_config_same_bytes(make: Make, tiny: Path, tmp_path: Path) -> None:
    """In this process, in one worker and in two, with other shards and hash seeds, and in a folder edited from
    another config."""
    whole = make()
    edited = make("seed=2", "generate.families.1.digits=[2,1,1,1,1,1,1,1,1]", folder="edited")
    make(folder="edited")
    packs = [(folder / "pack.json").read_bytes() for folder in (whole, edited)]
    for workers, shard_size, hash_seed in ((1, 20, 1), (2, 7, 2)):
        out = tmp_path / f"workers-{workers}"
        process("run", "-c", tiny, "-o", out, "--workers", workers, "--engine", "local", "--set",
        f"run.shard_size={shard_size}",
                hash_seed=hash_seed)  # fmt: skip
        packs.append((out / "pack.json").read_bytes())
    again = tmp_path / "again"
    process("run", "-c", whole / "run.json", "-o", again)
    packs.append((again / "pack.json").read_bytes())
    assert len(set(packs)) == 1


def test_the_four_tables_tell_the_fate_of_every_candidate(make: Make) -> None:
    folder = make("rules.adds=[0, 1]", "assemble.tolerance=40")
    found = {
        name: pl.read_parquet(folder / "reports" / f"{name}.parquet")
        for name in ("puzzles", "stages", "levels", "rejections")
    }
    for name, schema in (
        ("puzzles", tables.PUZZLES),
        ("stages", tables.STAGES),
        ("levels", tables.LEVELS),
        ("rejections", tables.REJECTIONS),
    ):
        assert found[name].schema == schema
    everything = pl.concat([found[name].select("family", "number") for name in ("puzzles", "rejections")])
    assert everything.height == everything.unique().height == 90
    reasons = set(found["rejections"]["reason"])
    assert "duplicate" in reasons
    assert "unclearable" in reasons
    assert reasons <= {"duplicate", "unclearable", "undecided", "failed"}
    assert (
        found["stages"]["stage"].to_list()
        == found["puzzles"].filter(pl.col("stage").is_not_null()).sort("stage")["stage"].to_list()
    )
    assert found["stages"].filter(pl.col("low") > pl.col("score")).height == 0
    assert found["stages"].filter(pl.col("high") < pl.col("score")).height == 0
    assert found["levels"]["stages"].to_list() == [3, 3]


def test_nothing_is_done_twice(make: Make, command: Command, tiny: Path) -> None:
    folder = make()
    before = shards(folder)
    again = command("run", "-c", tiny, "-o", folder)
    assert "nothing to do" in again.err
    make("generate.candidates=120")
    more = shards(folder)
    assert before < more
    kept = {name for name in before if name.startswith("candidates")}
    assert len([name for name in more - before if name.startswith("candidates/")]) < len(kept)


def test_a_run_with_nothing_to_do_imports_neither_numba_nor_scipy(make: Make, tiny: Path) -> None:
    folder = make()
    code = (
        "import sys; from pathlib import Path; "
        "from number_match.config_files import load; from number_match.run import run; "
        f"run(load([Path({str(tiny)!r})], (), {{'out': {str(folder)!r}}}), say=print); "
        "print(sorted({'numba', 'scipy'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said, modules = ended.stdout.splitlines()
    assert "nothing to do" in said
    assert modules == "[]"


@pytest.mark.parametrize(
    ("setting", "made", "reason"),
    [
        ("assemble.curve.end=50", [], ""),
        ("score.bands=[{name='all', from=0}]", [], ""),
        ("score.screen.playouts=70", ["score (screen)"], "[score].screen.playouts 60 → 70"),
        ("validate.node_budget=2000", ["validate", "score (screen)"], "[validate].node_budget 3000 → 2000"),
        (
            "generate.families.0.cells=[6, 8]",
            ["generate", "validate", "score (screen)"],
            "[generate].families.small.sizes",
        ),
    ],
)
def test_a_dry_run_says_what_is_stale_and_why_and_the_run_does_that(
    make: Make, command: Command, tiny: Path, setting: str, made: list[str], reason: str
) -> None:
    folder = make()
    before = shards(folder)
    dry = command("run", "-c", tiny, "-o", folder, "--set", setting, "--dry-run")
    assert dry.code == 0
    assert shards(folder) == before
    lines = dry.err.splitlines()
    for stage in ("generate", "validate", "score (screen)"):
        line = next(line for line in lines if line.startswith(f"{stage}: "))
        assert ("to make" in line) == (stage in made), line
    assert reason in dry.err
    make(setting)
    new = {
        name.partition("/")[0]
        for name in shards(folder) - before
        if not name.startswith(("scores/select", "scores/report"))
    }
    assert new == {
        {"generate": "candidates", "validate": "validation", "score (screen)": "scores"}[stage] for stage in made
    }


def test_a_damaged_shard_is_found_said_and_made_again(make: Make, command: Command, tiny: Path) -> None:
    folder = make()
    pack = (folder / "pack.json").read_bytes()
    for pattern in ("candidates/*", "validation/*", "scores/screen*", "scores/select*", "scores/report*"):
        path = sorted(folder.glob(pattern))[0]
        path.write_bytes(path.read_bytes()[:-30])
    (folder / "pack.json").unlink()
    outcome = command("run", "-c", tiny, "-o", folder)
    assert outcome.code == 0, outcome
    assert outcome.err.count("damaged: ") == 5
    assert (folder / "pack.json").read_bytes() == pack


def test_status_of_a_finished_run_says_that_nothing_needs_what_is_damaged(make: Make, command: Command) -> None:
    folder = make()
    shard = sorted(folder.glob("validation/*"))[0]
    shard.write_bytes(b"PAR1" + shard.read_bytes()[4:-30])
    outcome = command("status", folder)
    assert outcome.code == 0
    assert "nothing to do" in outcome.out
    assert "no readable footer; nothing needs it now" in outcome.out
    assert re.search(r"validate: \d shards kept, 1 gone that nothing needs now", outcome.out)
    assert "Error" not in outcome.out
    assert "again" not in outcome.out


def test_a_dry_run_tells_of_damaged_rows_and_ends_well(make: Make, command: Command, tiny: Path) -> None:
    folder = make()
    shard = sorted(folder.glob("validation/*"))[0]
    shard.write_bytes(b"PAR1" + bytes(400) + shard.read_bytes()[404:])
    (folder / "pack.json").unlink()
    outcome = command("run", "-c", tiny, "-o", folder, "--dry-run")
    assert outcome.code == 0, outcome
    assert "damaged: validation/" in outcome.err
    assert "a run makes it again" in outcome.err
    assert shard.exists()


def test_a_dry_run_counts_no_more_than_there_can_be(command: Command, tiny: Path, tmp_path: Path) -> None:
    outcome = command("run", "-c", tiny, "-o", tmp_path / "none", "--dry-run", "--set", "assemble.stages=1")
    assert "generate: 0 shards kept, 7 to make (90 boards)" in outcome.err
    assert "score (screen): 0 shards kept, 7 to make (up to 90 boards)" in outcome.err
    assert "select playouts for 90 boards × 1 player;" in outcome.err


def test_a_pool_may_come_from_rounds_alone(make: Make) -> None:
    folder = make(
        "generate.candidates=0", "assemble.topup.candidates=60", "assemble.topup.budget=120", "assemble.tolerance=20"
    )
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert record["facts"]["candidates"] in (60, 120)
    assert record["facts"]["stages"] == 6


def test_a_run_record_tells_config_versions_and_counts(make: Make) -> None:
    record = json.loads((make() / "run.json").read_text(encoding="utf-8"))
    assert record["state"] == "done"
    assert record["config"]["generate"]["candidates"] == 90
    assert record["stages"]["validate"]["clearable"] > 0
    assert record["stages"]["score"]["playouts"] >= 6 * 300
    assert set(record["behaviours"]) == {"generate", "validate", "score", "assemble"}


def test_a_pack_that_cannot_be_filled_is_no_pack(command: Command, tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    outcome = command("run", "-c", tiny, "-o", out, "--set", "assemble.stages=40", "--set", "assemble.tolerance=1")
    assert outcome.code == 1
    assert "of 80 Stages stay empty" in outcome.err
    assert "every puzzle this near is wanted elsewhere" in outcome.err
    assert not (out / "pack.json").exists()


def test_a_run_that_fails_leaves_the_earlier_pack_and_says_so(make: Make, command: Command, tiny: Path) -> None:
    folder = make()
    pack = (folder / "pack.json").read_bytes()
    outcome = command("run", "-c", tiny, "-o", folder, "--set", "assemble.tolerance=0.01")
    assert outcome.code == 1
    assert "pack.json is still the one of an earlier config" in outcome.err
    assert (folder / "pack.json").read_bytes() == pack


def test_an_unreachable_target_is_named(command: Command, tiny: Path, tmp_path: Path) -> None:
    """Boards of two cells that match are always cleared: no number of them is as hard as the second Level wants."""
    only_pairs = tmp_path / "pairs.toml"
    only_pairs.write_text(
        '[[generate.families]]\nname = "few"\ncells = 2\ndigits = [1, 0, 0, 0, 0, 0, 0, 0, 1]\n'
        "[assemble]\ntopup = { budget = 1000 }\n"
    )
    outcome = command("run", "-c", tiny, "-c", only_pairs, "-o", tmp_path / "run")
    assert outcome.code == 1
    assert "out of reach" in outcome.err
    assert "L002-S03" in outcome.err
    assert "round" not in outcome.err


def test_rounds_of_more_candidates_fill_what_is_empty(make: Make, command: Command, tiny: Path) -> None:
    settings = (
        "generate.candidates=12",
        "assemble.tolerance=3",
        "assemble.topup.candidates=30",
        "assemble.topup.budget=300",
    )
    folder = make(*settings)
    puzzles = pl.read_parquet(folder / "reports" / "puzzles.parquet")
    rounds = puzzles["round"].max()
    assert isinstance(rounds, int)
    assert rounds >= 1
    assert (
        models.read_pack(folder / "pack.json").content_hash
        == models.read_pack(make(*settings, folder="fresh") / "pack.json").content_hash
    )


def test_each_round_says_what_it_brought(command: Command, tiny: Path, tmp_path: Path) -> None:
    words = [w for s in ("generate.candidates=12", "assemble.tolerance=3", "assemble.topup.candidates=30",
                         "assemble.topup.budget=300") for w in ("--set", s)]  # fmt: skip
    outcome = command("run", "-c", tiny, "-o", tmp_path / "run", *words)
    assert outcome.code == 0
    assert "round 1: " in outcome.err
    assert "30 more candidates" in outcome.err
    assert re.search(r"Stages? filled, 0 still empty", outcome.err)
    assert (
        "more candidates; select playouts" in command("run", "-c", tiny, "-o", tmp_path / "no", *words, "--dry-run").err
    )


def test_a_dry_run_and_status_end_well_whatever_they_find(make: Make, command: Command, tiny: Path) -> None:
    folder = make()
    before = shards(folder)
    dry = command("run", "-c", tiny, "-o", folder, "--set", "assemble.tolerance=0.01", "--dry-run")
    assert dry.code == 0
    done = command("status", folder)
    assert (done.code, done.err) == (0, "")
    assert "nothing to do" in done.out
    assert "validate: 7 shards kept\n" in done.out
    sorted(folder.glob("validation/*"))[0].unlink()
    (folder / "pack.json").unlink()
    missing = command("status", folder)
    assert missing.code == 0
    assert "validate: 6 shards kept, 1 to make (20 boards)" in missing.out
    assert shards(folder) < before


def test_bad_input_is_one_message(command: Command, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be written" in command("run", "-c", tiny, "-o", tmp_path / "file" / "out").complaint
    empty = tmp_path / "boards.txt"
    empty.write_text("")
    hand = tmp_path / "hand.toml"
    hand.write_text('[[generate.families]]\nname = "hand"\nfile = "boards.txt"\n')
    assert "expected at least one board" in command("run", "-c", tiny, "-c", hand, "-o", tmp_path / "out").complaint
    assert not (tmp_path / "out").exists()
    assert "none.toml: cannot be read" in command("run", "-c", "none.toml").complaint
    assert "expected a run folder" in command("status", tmp_path).complaint


def test_stages_can_be_run_one_by_one(command: Command, tiny: Path, tmp_path: Path, make: Make) -> None:
    out = tmp_path / "steps"
    for stage, folder in (("generate", "candidates"), ("validate", "validation"), ("score", "scores")):
        assert not list(out.glob(f"{folder}/*.parquet"))
        assert command(stage, "-c", tiny, "-o", out).code == 0
        assert list(out.glob(f"{folder}/*.parquet"))
    assert command("assemble", "-c", tiny, "-o", out).code == 0
    assert (out / "pack.json").read_bytes() == (make() / "pack.json").read_bytes()
