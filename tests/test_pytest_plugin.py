"""Packs as test items in somebody else's repository."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from breaking import VEYRA, changed, load, stage, write
from number_match import pytest_plugin
from number_match.models import client_pack, pack_text, read_pack

STAGES = ["L001-S01", "L001-S02", "L001-S03", "L002-S01", "L002-S02", "L002-S03"]


@pytest.fixture
def studio(tmp_path: Path) -> Path:
    """A repository with a `pipeline` of its own, a test of its own, and a pack."""
    (tmp_path / "pipeline").mkdir()
    (tmp_path / "pipeline" / "__init__.py").write_text("OURS = 1\n")
    (tmp_path / "test_own.py").write_text("import pipeline\n\ndef test_own():\n    assert pipeline.OURS\n")
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "winter.pack.json").write_bytes(VEYRA.read_bytes())
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """pytest in that folder, with our plugin and no other."""
    command = [sys.executable, "-m", "pytest", "-p", pytest_plugin.__name__, "-p", "no:cacheprovider", *arguments]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


def test_a_stage_is_an_item_with_a_readable_id(studio: Path) -> None:
    code, out = run(studio, "packs/", "--collect-only", "-q")
    assert code == 0
    assert [line for line in out.splitlines() if "::" in line] == [f"packs/winter.pack.json::{name}" for name in STAGES]


@pytest.mark.parametrize("path", ["../winter.json", "./../winter.json", "deep/../../winter.json", "{}/winter.json"])
def test_a_named_pack_is_found_whatever_way_its_path_takes(studio: Path, path: str) -> None:
    (studio / "packs" / "winter.pack.json").rename(studio / "winter.json")
    (studio / "packs" / "deep").mkdir()
    code, out = run(studio / "packs", "--pack", path.format(studio), "-q")
    assert code == 0, out
    assert "6 passed" in out


def test_a_pack_that_is_named_twice_is_checked_once(studio: Path) -> None:
    code, out = run(studio, "packs/winter.pack.json", "--pack", "packs/winter.pack.json", "-q")
    assert code == 0, out
    assert "6 passed" in out


def test_the_stage_that_broke_is_the_one_that_fails(studio: Path) -> None:
    broken = changed(load(), lambda d: stage(d, 3)["difficulty"].update(score=1.0))
    write(broken, studio / "packs" / "winter.pack.json")
    code, out = run(studio, "-q", "--junit-xml=out.xml")
    assert code == 1
    assert "6 passed" in out
    assert "1 failed" in out
    assert "winter.pack.json: L002-S01 p-" in out
    assert "Traceback" not in out
    assert "pytest_plugin.py" not in out
    cases = ElementTree.parse(studio / "out.xml").getroot().iter("testcase")
    assert [case.get("name") for case in cases if case.find("failure") is not None] == ["L002-S01"]


def test_what_is_wrong_with_the_pack_as_a_whole_is_an_item_of_its_own(studio: Path) -> None:
    document = load()
    document["title"] = "No new hash"
    write(document, studio / "packs" / "winter.pack.json")
    code, out = run(studio, "packs", "-q")
    assert code == 1
    assert "FAILED packs/winter.pack.json::pack - winter.pack.json: content-hash" in out
    assert "6 passed" in out


def test_a_file_that_is_no_pack_fails_by_its_reason(studio: Path) -> None:
    (studio / "packs" / "summer.pack.json").write_text("{")
    code, out = run(studio, "packs", "-q")
    assert code != 0
    assert "summer.pack.json:1:2: not JSON" in out
    assert "Traceback" not in out


def test_a_pack_of_any_name_can_be_named(studio: Path) -> None:
    (studio / "release.json").write_bytes(VEYRA.read_bytes())
    code, out = run(studio, "--pack", "release.json", "-q")
    assert code == 0
    assert "6 passed" in out
    code, out = run(studio, "test_own.py", "--pack", "release.json", "-q")
    assert "7 passed" in out


def test_the_full_level_is_chosen_by_its_marker(studio: Path) -> None:
    code, out = run(studio, "packs", "-m", pytest_plugin.FULL, "-v")
    assert code == 0
    assert "6 passed, 6 deselected" in out
    assert "packs/winter.pack.json::L001-S01[full] PASSED" in out
    wrong = changed(load(), lambda d: stage(d, 1)["difficulty"]["players"]["expert"]["passed"].__setitem__(3, 7))
    write(wrong, studio / "packs" / "winter.pack.json")
    code, out = run(studio, "packs", "-m", pytest_plugin.FULL, "-q")
    assert "1 failed, 5 passed" in out
    assert "L001-S02[full]" in out


def test_a_client_file_has_no_full_level(studio: Path) -> None:
    path = studio / "packs" / "winter.pack.json"
    path.write_text(pack_text(client_pack(read_pack(VEYRA))), "utf-8")
    assert "6 passed" in run(studio, "packs", "-q")[1]
    assert "6 skipped" in run(studio, "packs", "-m", pytest_plugin.FULL, "-q")[1]


def test_without_a_pack_the_plugin_imports_next_to_nothing(studio: Path) -> None:
    (studio / "test_own.py").write_text(
        "import sys\n\ndef test_own():\n"
        "    ours = {name for name in sys.modules if name.startswith('number_match')}\n"
        "    assert ours == {'number_match', 'number_match.pytest_plugin'}, ours\n"
        "    assert not {'numpy', 'numba', 'polars', 'pydantic'} & set(sys.modules)\n"
    )
    code, out = run(studio, "test_own.py", "-q")
    assert code == 0, out
