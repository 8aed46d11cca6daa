"""What an earlier pack left in a run folder is said, and no figures of two packs are mixed."""

from pathlib import Path

import polars as pl
import pytest
from markupsafe import Markup

from conftest import Command
from number_match.beside import notes
from number_match.errors import UserError
from number_match.models import read_pack
from number_match.report.charts import Picture
from number_match.report.folder import read_run
from number_match.report.page import page
from test_run import TINY


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    return path


@pytest.fixture
def folder(command: Command, config: Path, tmp_path: Path, no_page: None) -> Path:
    """A finished run."""
    out = tmp_path / "run"
    assert command("run", "-c", config, "-o", out).code == 0
    return out


@pytest.fixture
def unfilled(command: Command, config: Path, folder: Path) -> Path:
    """The same, and then a run of another config that could not be filled."""
    assert command("run", "-c", config, "-o", folder, "--set", "assemble.tolerance=0.01").code == 1
    return folder


CHARTS = ("curve", "players", "funnel", "verdicts", "pool")
SAID = "pack.json is an earlier pack: the last run was of another config and could not be filled"


def test_a_finished_run_has_nothing_to_say(folder: Path) -> None:
    assert list(notes(folder)) == []
    assert list(notes(folder / "nowhere")) == []


def test_after_a_run_that_could_not_be_filled_every_command_says_so_first(unfilled: Path, command: Command) -> None:
    assert command("report", unfilled).err.splitlines()[0] == f"note: {SAID}"
    assert command("explain", unfilled / "pack.json", "L001-S01").out.startswith(f"note: {SAID}")
    status = command("status", unfilled)
    assert status.out.splitlines()[-1] == f"note: {SAID}"
    assert "nothing to do" not in status.out


def test_the_page_of_an_earlier_pack_says_so_and_shows_nothing_of_the_last_run(folder: Path, unfilled: Path) -> None:
    run = read_run(unfilled)
    assert (run.earlier, run.record) == (SAID, {})
    text = page(run, [Picture(name, name, name, Markup(), Markup()) for name in CHARTS])
    assert f"{SAID}. This page shows that earlier pack" in text.partition("<table")[0]
    for word in ("optimality gap", "The resolved config", "Last run", "boards/s"):
        assert word not in text


def test_tables_of_another_pack_are_not_shown_beside_this_one(folder: Path, command: Command) -> None:
    path = folder / "reports" / "stages.parquet"
    pl.read_parquet(path).reverse().write_parquet(path)
    with pytest.raises(UserError, match=r"stages\.parquet: missing or damaged"):
        read_run(folder)  # run.json says what was written
    assert "stages.parquet: missing or damaged" in command("explain", folder / "pack.json", "L001-S01").out
    (folder / "run.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match=r"pack\.json and reports/stages\.parquet are of different packs"):
        read_run(folder)
    other = pl.read_parquet(path).with_columns(puzzle=pl.lit("p-00000000000000000000"))
    other.write_parquet(path)
    assert "the tables beside the pack are of another one" in command("explain", folder / "pack.json", "L001-S01").out


@pytest.mark.parametrize("content", ["", "{", "[]", "\udcff"])
def test_a_damaged_record_is_called_so(folder: Path, content: str) -> None:
    (folder / "run.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match=r"run\.json: damaged.*number-match run -c CONFIG"):
        read_run(folder)


def test_tables_of_another_version_are_no_reason_to_fail(folder: Path, command: Command) -> None:
    (folder / "run.json").write_text("{}", encoding="utf-8")
    path = folder / "reports" / "puzzles.parquet"
    pl.read_parquet(path).drop("nodes").write_parquet(path)
    said = "puzzles.parquet: no column nodes as this version has it"
    assert said in command("explain", folder / "pack.json", "L001-S01").out
    with pytest.raises(UserError, match=said):
        read_run(folder)


def test_pages_and_exports_of_an_earlier_pack_are_named_with_what_makes_them_anew(
    command: Command, config: Path, folder: Path
) -> None:
    pack = folder / "pack.json"
    made = [("preview", pack), ("export", pack, "--ndjson"), ("export", pack, "--parquet")]
    for words in made:
        assert command(*words).code == 0
    assert command("status", folder).out.count("note: ") == 0
    outcome = command("run", "-c", config, "-o", folder, "--set", "seed=2")
    assert outcome.code == 0
    for name in ("preview.html", "pack.ndjson", "pack.parquet"):
        assert f"note: {name} is not of this pack; number-match" in outcome.err
        assert f"note: {name} is not of this pack; number-match" in command("status", folder).out
    for words in made:
        assert command(*words).code == 0
    assert list(notes(folder)) == []
    assert read_pack(pack).generator.seed == 2


def test_a_page_or_export_that_cannot_be_read_shows_no_pack(folder: Path) -> None:
    for name in ("preview.html", "pack.ndjson", "pack.parquet"):
        (folder / name).write_bytes(b"\xff\xfe")
    assert len(list(notes(folder))) == 3
