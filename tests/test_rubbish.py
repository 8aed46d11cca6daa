"""What nobody should have given: every command that reads a file refuses it in words, and a pack that is well-formed
and makes no sense brings no command down."""

import json
import os
import random
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from breaking import NARROW, VEYRA, places
from conftest import Command
from number_match.diff import diff, written
from number_match.errors import UserError
from number_match.explain import explain
from number_match.export import contents
from number_match.formats import DiffFormat, ExportFormat
from number_match.models import Pack, PackError, parse_pack
from number_match.preview import page_data
from number_match.verify_quick import quick

READERS: dict[str, list[object]] = {
    "verify": ["verify", "FILE"],
    "verify --baseline": ["verify", VEYRA, "--baseline", "FILE"],
    "diff": ["diff", VEYRA, "FILE"],
    "explain": ["explain", "FILE", "L001-S01"],
    "show": ["show", "FILE", "L001-S01"],
    "preview": ["preview", "FILE", "-o", "OUT"],
    "export": ["export", "--ndjson", "FILE", "-o", "OUT"],
    "report": ["report", "FILE"],
    "status": ["status", "FILE"],
    "config": ["config", "-c", "FILE"],
    "run": ["run", "--dry-run", "-c", "FILE"],
    "solve": ["solve", "--file", "FILE"],
    "simulate": ["simulate", "--file", "FILE"],
    "perft": ["perft", "--depth", "1", "--file", "FILE"],
    "calibrate": ["calibrate", "FILE", VEYRA],
    "telemetry": ["calibrate", VEYRA, "FILE"],
}
RUBBISH: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\n",
    "bytes": bytes(range(256)),
    "zeros": bytes(1000),
    "list.json": b"[]",
    "deep.json": b"[" * 100_000,
    "deep.toml": b"a = " + b"[" * 100_000,
    "nan.json": b'{"format": NaN, "rows": NaN, "config": NaN}',
    "cut.json": VEYRA.read_bytes()[:2000],
    "latin.toml": "title = 'ü'".encode("latin-1"),
    "fullwidth.txt": "１２３\n".encode(),
    "escape.toml": b"\x1b[31m = 3",
    "table.csv": b"stage,attempts,clears\nL001-S01,x\x1b[31m,-1\n",
    "t.parquet": b"PAR1 and nothing more",
}


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of rubbish."""
    folder = tmp_path_factory.mktemp("given")
    for name, data in RUBBISH.items():
        (folder / name).write_bytes(data)
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
    return folder


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", [*RUBBISH, "folder", "loop", "dangling", "missing", "x" * 5000, "a\nb", "\udcff"])
def test_rubbish_is_refused_in_words(command: Command, given: Path, tmp_path: Path, reader: str, name: str) -> None:
    path, out = given / name, tmp_path / "out"
    words = [{"FILE": path, "OUT": out}.get(str(word), word) for word in READERS[reader]]
    outcome = command(*words)
    if reader.startswith("verify"):
        outcome = type(outcome)(outcome.code, "", outcome.err)
    complaint = outcome.complaint.replace(os.fspath(given), "")
    assert "\x1b" not in complaint
    assert "Error" not in complaint
    assert "Errno" not in complaint
    assert len(complaint) < 600 + len(name)
    assert not out.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["solve"],
        ["solve", "12", "--adds", "-1"],
        ["solve", "12", "--node-budget", "1e9"],
        ["solve", "12", "--node-budget", str(2**70)],
        ["solve", "12", "--memory-mib", str(2**70)],
        ["verify", VEYRA, "--max-mib", str(2**70)],
        ["solve", "12", "--ruleset", "width=0"],
        ["solve", "1" * 100_000],
        ["simulate", "1111", "--playouts", "0"],
        ["simulate", "1111", "--seed", str(2**64)],
        ["simulate", "1111 +9999"],
        ["simulate", "1111", "--player", "nobody\x1b[31m"],
        ["show", "11", "--play", "0-1 \x1b 2"],
        ["perft", "11", "--depth", "-1"],
        ["run"],
        ["run", "-c", VEYRA, "--workers", "0"],
        ["verify"],
        ["verify", VEYRA, "--max-mib", "0"],
        ["diff", VEYRA],
        ["schema", "packs"],
        ["export", VEYRA],
        ["nonsense"],
        ["solve", "11", "--nonsense"],
    ],
    ids=lambda words: " ".join(map(str, words))[:40],
)
def test_a_bad_argument_is_one_message(command: Command, words: list[object]) -> None:
    complaint = command(*words).complaint
    assert len(complaint) < 500
    for phrase in ("\x1b", "Error", "Input should", "Value error", "Invalid value"):
        assert phrase not in complaint


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["solve", "12", "--adds", "-1"], "--adds is '-1': expected a whole number from 0 to 9,999"),
        (["solve", "12", "--memory-mib", "x"], "--memory-mib is 'x': expected a whole number from 1 to 1,048,576"),
        (["verify", VEYRA, "--level", "x"], "--level is 'x': expected one of 'quick', 'full'"),
        (["schema", "x"], "FORMAT is 'x': expected one of 'pack', 'config'"),
    ],
    ids=str,
)
def test_an_option_of_the_wrong_kind_is_told_as_everything_else(
    command: Command, words: list[object], said: str
) -> None:
    assert command(*words).complaint == said


def test_files_that_the_config_names_are_told_with_their_keys(command: Command, tmp_path: Path) -> None:
    text = '[[generate.families]]\nname = "a"\ncells = 9\n[assemble]\nlevels = 2\n'
    (tmp_path / "c.toml").write_text(text, encoding="utf-8")
    (tmp_path / "no.json").write_bytes(b"[]")

    def complaint(setting: str) -> str:
        return command("run", "-c", tmp_path / "c.toml", "-o", tmp_path / "out", "--set", setting).complaint

    missing, other = tmp_path / "none.json", tmp_path / "no.json"
    assert (
        complaint(f"assemble.append={missing}")
        == f"assemble.append: {missing}: cannot be read: No such file or directory"
    )
    assert complaint(f"assemble.exclude=['{other}']") == f"assemble.exclude[0]: {other}: expected a JSON object"
    assert complaint("assemble.level=[{level=1,id='L002'}]").startswith(
        "assemble.level: two Levels would have the id L002"
    )


# ------------------------------------------------------------------------------------- packs that make no sense


def senseless(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    """The document with a few values exchanged for others of their kind."""
    made = deepcopy(document)
    everywhere = list(places(document))
    texts = ["+", "1-2", "9", "/", "1/1", "A-B", "L001-S01", "\x1b[31m\u202e", "11" * 50, "p-" + "0" * 20]
    for _ in range(draw.choice((1, 1, 2, 4))):
        *parents, last = draw.choice(everywhere)
        inner: Any = made
        try:
            for part in parents:
                inner = inner[part]
            value = inner[last]
        except (KeyError, IndexError, TypeError):
            continue
        match value:
            case bool():
                inner[last] = not value
            case int():
                inner[last] = draw.choice((0, 1, 2, 9, 99, 9999, 2**53 - 1, value + 1))
            case float():
                inner[last] = draw.choice((0.0, 100.0, 50.5, 0.0001))
            case str():
                inner[last] = draw.choice(texts)
            case list():
                inner[last] = draw.choice(([], value[1:], value[::-1], value * 2, value * 20))
            case dict():
                value.pop(draw.choice(list(value)), None) if value else value.update(extra=1)
    return made


@pytest.mark.parametrize("path", [VEYRA, NARROW], ids=["veyra", "narrow"])
def test_a_well_formed_pack_that_makes_no_sense_brings_nothing_down(
    command: Command, path: Path, tmp_path: Path
) -> None:
    draw = random.Random(path.name)
    document = json.loads(path.read_bytes())
    good = parse_pack(path.read_bytes(), "good")
    file = tmp_path / "pack.json"
    read = 0
    for _ in range(150):
        data = json.dumps(senseless(draw, document)).encode()
        try:
            pack = parse_pack(data, "x")
        except PackError:
            continue
        read += 1
        file.write_bytes(data)
        list(quick(pack, "x"))
        for old, new in ((good, pack), (pack, good), (pack, pack)):
            for form in DiffFormat:
                assert all("\x1b" not in line for line in written(diff(old, new), form))
        first = pack.levels[0].stages[0].id
        assert isinstance(pack, Pack)
        with suppress(UserError):
            assert "\x1b" not in explain(file, first)
        with suppress(UserError):
            page_data(pack)
        for form_of_export in ExportFormat:
            with suppress(UserError):
                contents(pack, form_of_export)
        assert command("show", file, first, "--json").code in (0, 2)
    assert read > 40


def test_lists_in_the_assembly_block_that_do_not_cover_the_stages_are_a_finding() -> None:
    document = json.loads(VEYRA.read_bytes())
    document["assembly"]["curve"] |= {"kind": "list", "values": [1.0, 2.0]}
    found = [
        finding for finding in quick(parse_pack(json.dumps(document).encode(), "x"), "x") if finding.rule == "assembly"
    ]
    assert [finding.found for finding in found] == ['curve.values is "2 values": expected one for each of the 6 Stages']
