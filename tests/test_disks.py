"""Disks that are full, or read-only: real ones, small file systems in memory that only the test sees."""

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import Command
from number_match import report
from test_faults import strays
from test_run import TINY, process

PAGE = os.sysconf("SC_PAGE_SIZE")
HOLD = """
    mount -t tmpfs -o "$2" tmpfs "$1" && echo ready
    while read -r options; do mount -t tmpfs -o "remount,$options" tmpfs "$1" && echo ready || echo failed; done
"""


@dataclass(frozen=True)
class Disk:
    """A file system in memory, in the mount namespace of a process that holds it."""

    path: Path
    holder: subprocess.Popen[str]

    def change(self, options: str) -> None:
        """Mount it again with other options."""
        assert self.holder.stdin
        assert self.holder.stdout
        print(options, file=self.holder.stdin, flush=True)
        assert self.holder.stdout.readline() == "ready\n"

    def fill(self, free: int) -> None:
        """Make it so small that so many pages are free."""
        state = os.statvfs(self.path)
        self.change(f"size={(state.f_blocks - state.f_bfree) * state.f_frsize + free * PAGE}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A disk with plenty of room, made as root, else as root of a user namespace of our own."""
    place = tmp_path / "disk"
    place.mkdir()
    for way in ([], ["--map-root-user"]):
        try:
            holder = subprocess.Popen(
                ["unshare", "--mount", *way, "sh", "-c", HOLD, "sh", place, "size=64m,mode=755"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except FileNotFoundError:
            pytest.skip("no `unshare`: a small disk cannot be mounted")
        with holder:  # it ends with its stdin
            assert holder.stdout
            if holder.stdout.readline() == "ready\n":
                yield Disk(Path(f"/proc/{holder.pid}/root{place}"), holder)
                return
    pytest.skip("this machine mounts nothing for us, in a user namespace neither; a limit on files is tried instead")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY.replace("shard_size = 20", "shard_size = 45"), encoding="utf-8")
    return path


def stopped_at(said: str, out: Path, what: str) -> str:
    """The file, within the run folder, that a run stopped at, and how it says so; its number or key left out."""
    found = re.fullmatch(
        rf"(?:.*\n)*?stopped: {re.escape(str(out))}/?(\S*): {re.escape(what)}\n"
        rf"what is finished is kept; go on with: number-match run -c \S+ -o {re.escape(str(out))}( --\w+ \S+)*\n",
        said,
    )
    assert found, said
    assert "Traceback" not in said
    return re.sub(r"^(\w+/)(screen|select|report)?.*?(\.parquet|\.png)?$", r"\1\2\3", found[1])


FULL = "No space left on device; make room on that disk"


STEPS = {"run.json", "candidates/.parquet", "validation/.parquet", "scores/screen.parquet", "scores/select.parquet",
         "scores/report.parquet", "reports/.parquet"}  # fmt: skip


@pytest.mark.usefixtures("no_page")
@pytest.mark.parametrize(
    ("options", "where"),
    [("size={pages}", STEPS), ("nr_inodes={files}", STEPS | {"candidates", ".owner", "pack.client.json", "pack.json"})],
)
def test_a_run_on_a_disk_that_grows_step_by_step(
    command: Command, tiny: Path, disk: Disk, whole: bytes, options: str, where: set[str]
) -> None:
    """One page, or one file, more at each attempt: so there is a full disk at every stage, and every run after it goes
    on from what the last one left."""
    out = disk.path / "run"
    met = set()
    for size in itertools.count(1):
        disk.change(options.format(pages=size * PAGE, files=size + 1))
        outcome = command("run", "-c", tiny, "-o", out)
        if outcome.code == 0:
            break
        assert (outcome.code, outcome.out) == (1, "")
        met.add(stopped_at(outcome.err, out, FULL))
        assert strays(out) == []
    assert (out / "pack.json").read_bytes() == whole
    assert met >= where


@pytest.mark.usefixtures("no_page")
def test_workers_on_a_full_disk(command: Command, tiny: Path, disk: Disk, whole: bytes) -> None:
    """What workers meet is told as if the run itself had met it."""
    out = disk.path / "run"
    assert command("generate", "-c", tiny, "-o", out).code == 0
    disk.fill(free=3)
    ended = process("run", "-c", tiny, "-o", out, "--engine", "local", "--workers", 2, code=1)
    assert stopped_at(ended.stderr, out, FULL) == "validation/.parquet"
    assert ended.stderr.endswith(" --workers 2 --engine local\n")
    assert strays(out) == []
    disk.change("size=64m")
    assert command("run", "-c", tiny, "-o", out).code == 0
    assert (out / "pack.json").read_bytes() == whole


def test_a_report_on_a_full_disk(command: Command, tiny: Path, disk: Disk) -> None:
    out = disk.path / "run"
    assert command("run", "-c", tiny, "-o", out).code == 0
    os.utime(out / "pack.json", (2**32, 2**32))
    assert report.is_current(out), "a page is not stale because a clock was set back"
    (out / "report.html").unlink()
    pictures = {path: path.read_bytes() for path in (out / "reports").glob("*.png")}
    largest = max(map(len, pictures.values())) // PAGE + 1  # pages; report.html takes more
    for free, where in ((0, "reports/.png"), (largest, "report.html")):
        disk.fill(free)
        outcome = command("run", "-c", tiny, "-o", out)
        assert outcome.code == 1
        assert stopped_at(outcome.err, out, FULL) == where
        assert strays(out) == []
        if not free:
            assert "No space left on device" in command("report", out).complaint
    disk.change("size=64m")
    assert command("run", "-c", tiny, "-o", out).code == 0
    assert report.is_current(out)
    assert {path: path.read_bytes() for path in pictures} == pictures
    (out / "run.json").write_text((out / "run.json").read_text() + "\n")
    os.utime(out / "run.json", (0, 0))
    assert not report.is_current(out)


@pytest.mark.usefixtures("no_page")
def test_a_read_only_disk(command: Command, tiny: Path, disk: Disk, whole: bytes) -> None:
    """Nothing is written there, what was made there is still told about, and a finished run needs nothing more."""
    out = disk.path / "run"
    assert command("validate", "-c", tiny, "-o", out).code == 0
    disk.change("ro")
    complaint = command("run", "-c", tiny, "-o", out).complaint
    assert complaint == f"run.out: the output folder {out} cannot be written: Read-only file system"
    assert "Read-only" in command("run", "-c", tiny, "-o", disk.path / "new").complaint
    assert "validate: 3 shards kept" in command("run", "-c", tiny, "-o", out, "--dry-run").err
    assert "validate: 3 shards kept" in command("status", out).out
    disk.change("rw")
    assert command("run", "-c", tiny, "-o", out).code == 0
    disk.change("ro")
    outcome = command("run", "-c", tiny, "-o", out)
    assert outcome.code == 0
    assert "nothing to do" in outcome.err
    assert (out / "pack.json").read_bytes() == whole


@pytest.mark.usefixtures("no_page")
def test_a_limit_on_the_size_of_files(command: Command, tiny: Path, tmp_path: Path, whole: bytes) -> None:
    """Another real "no", which needs no rights: files may have no more than so many bytes. (`whole` has the kernels
    compiled before.)"""
    out = tmp_path / "run"
    met = set()
    for limit in (0, 10, 13):  # blocks of 512 bytes
        ended = subprocess.run(
            ["sh", "-c", f'ulimit -f {limit} && exec "$@"', "sh", sys.executable, "-m", "number_match", "run",
             "-c", tiny, "-o", out],
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        assert ended.returncode == 1, ended
        met.add(stopped_at(ended.stderr, out, "File too large; raise the limit on the size of files (ulimit -f)"))
        assert strays(out) == []
    assert command("run", "-c", tiny, "-o", out).code == 0
    assert (out / "pack.json").read_bytes() == whole
    assert met == {".owner", "candidates/.parquet", "validation/.parquet"}
