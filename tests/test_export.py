"""Packs in other forms."""

import json
from pathlib import Path

import polars as pl
import pytest

from breaking import VEYRA, load, stage
from conftest import Command
from number_match.models import client_pack, pack_text, read_any, read_pack


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "release.json"
    path.write_bytes(VEYRA.read_bytes())
    return path


def test_the_client_file_stands_beside_the_pack(command: Command, pack: Path) -> None:
    outcome = command("export", pack, "--client")
    path = pack.with_name("release.client.json")
    assert outcome.out == f"{path}\n"
    assert read_any(path) == client_pack(read_pack(VEYRA))
    assert path.read_text("utf-8") == pack_text(client_pack(read_pack(VEYRA)))


def test_ndjson_has_a_line_for_every_stage(command: Command, pack: Path) -> None:
    command("export", pack, "--ndjson")
    rows = [json.loads(line) for line in pack.with_name("release.ndjson").read_text("utf-8").splitlines()]
    assert [row["stage"] for row in rows] == [stage(load(), number)["id"] for number in range(6)]
    assert rows[2]["solution"] == stage(load(), 2)["solution"]
    assert rows[2]["score"] == stage(load(), 2)["difficulty"]["score"]


def test_parquet_holds_the_same_rows(command: Command, pack: Path, tmp_path: Path) -> None:
    command("export", pack, "--ndjson")
    command("export", pack, "--parquet", "--out", tmp_path / "table.parquet")
    rows = [json.loads(line) for line in pack.with_name("release.ndjson").read_text("utf-8").splitlines()]
    assert pl.read_parquet(tmp_path / "table.parquet").to_dicts() == rows


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "expected exactly one of --client, --ndjson and --parquet"),
        (("--client", "--parquet"), "expected exactly one of"),
        (("--client", "--out", "missing/folder/x.json"), "cannot be written: No such file or directory"),
        (("--parquet", "--out", "missing/folder/x.parquet"), "cannot be written: No such file or directory"),
        (("--client", "--out", "release.json"), "this is the pack itself"),
    ],
)
def test_a_mistake_is_one_message_and_leaves_everything_as_it_was(
    command: Command, pack: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(pack.parent)
    assert said in command("export", pack, *options).complaint
    assert sorted(path.name for path in pack.parent.iterdir()) == ["release.json"]
    assert pack.read_bytes() == VEYRA.read_bytes()


def test_an_altered_pack_is_not_passed_on(command: Command, pack: Path) -> None:
    text = VEYRA.read_text("utf-8")
    pack.write_text(text.replace("Golden", "Silver"), encoding="utf-8")
    assert "was altered" in command("export", pack, "--client").complaint
    assert not pack.with_name("release.client.json").exists()
