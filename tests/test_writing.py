"""What commands write over, and what they leave alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import number_match
from conftest import Command

PACK = Path(__file__).parent / "packs" / "veyra.pack.json"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return Path(shutil.copy(PACK, tmp_path / "pack.json"))


@pytest.mark.parametrize("arguments", [("preview",), ("export", "--client")])
def test_a_pack_is_not_written_over_by_what_is_made_of_it(command: Command, pack: Path, arguments: tuple[str]) -> None:
    before = pack.read_bytes()
    (pack.parent / "link.json").symlink_to(pack)
    for target in (pack, pack.parent / "." / "pack.json", pack.parent / "link.json"):
        complaint = command(arguments[0], pack, *arguments[1:], "-o", target).complaint
        assert "this is the pack itself; expected another file" in complaint
    assert pack.read_bytes() == before


@pytest.mark.parametrize("arguments", [("preview",), ("export", "--client"), ("export", "--parquet")])
def test_what_is_no_file_is_left_alone(command: Command, pack: Path, arguments: tuple[str]) -> None:
    pipe = pack.parent / "pipe"
    os.mkfifo(pipe)
    for target in (pipe, pack.parent):
        assert str(target) in command(arguments[0], pack, *arguments[1:], "-o", target).complaint
    assert pipe.is_fifo()


def test_a_link_stays_a_link(command: Command, pack: Path) -> None:
    link, page = pack.parent / "link.html", pack.parent / "page.html"
    page.write_text("old")
    link.symlink_to(page)
    assert command("preview", pack, "-o", link).code == 0
    assert link.is_symlink()
    assert "<html" in page.read_text("utf-8")


@pytest.mark.parametrize("name", ["deep.json", "deep.toml"])
def test_a_config_nested_without_end_is_refused(command: Command, tmp_path: Path, name: str) -> None:
    deep = tmp_path / name
    deep.write_text(("" if name.endswith("json") else "a = ") + "[" * 100_000)
    assert str(deep) in command("config", "-c", deep).complaint


def test_every_copy_of_the_program_keeps_its_own_compiled_code(tmp_path: Path) -> None:
    """numba looks for compiled code by path and age of the source: one copy must not take another for compiled."""
    shutil.copytree(
        Path(number_match.__file__).parent, tmp_path / "number_match", ignore=shutil.ignore_patterns("__pycache__")
    )
    folders = {
        subprocess.run(
            [sys.executable, "-c", "import number_match.kernels as k; print(k.CACHE_FOLDER)"],
            env={**os.environ, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for root in (tmp_path, Path(number_match.__file__).parent.parent)
    }
    assert len(folders) == 2
