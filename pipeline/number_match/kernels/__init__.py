"""The same game compiled by numba: arrays and ints in, ints out; nothing here checks what it is given.

`rules.py` is the authority, and a test holds the two together. The files import numpy, numba, llvmlite and one
another, and nothing else of the package. `solve.py` and `simulate.py` are the checked doors.

Compiled code is kept for later runs in a folder named after a sha256 of these sources, so that an edit to any of
them can never meet code compiled from another version (numba alone checks only the file of the function that is
called). The folder lies under `NUMBA_CACHE_DIR` when that is set, else under the user's cache folder, else, for a
read-only install without a home, under the system's folder for temporary files.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path


def _source_digest() -> str:
    """Of what the sources hold, and of where and how old they are: numba compiles anew where that differs."""
    digest = sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        stamp = f"{source.resolve()} {source.stat().st_mtime_ns}"
        digest.update(f"{stamp}\0".encode() + source.read_bytes())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _cache_folder() -> Path:
    name = f"number-match-{_source_digest()}"
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given and Path(given).name == name:  # set by the process that started this one
        return Path(given)
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    temporary = Path(tempfile.gettempdir()) / f"number-match-{os.getuid() if hasattr(os, 'getuid') else 0}"
    for base in [Path(given)] if given else [Path(user) / "number-match", temporary]:
        if _writable(base / name):
            return base / name
    return Path(tempfile.mkdtemp(prefix="number-match-"))


CACHE_FOLDER = _cache_folder()
os.environ["NUMBA_CACHE_DIR"] = str(CACHE_FOLDER)
if "numba" in sys.modules:  # the host program had it loaded already
    sys.modules["numba"].config.CACHE_DIR = str(CACHE_FOLDER)


def prepare(parts: Sequence[str], say: Callable[[str], None]) -> None:
    """Load the kernels named by `parts` (files of this folder), compiling them if that was never done on this machine.

    Call it in the parent before workers start: numba's folder on disk races when many processes compile at once.
    `say` gets one line before a compilation, none when everything is there.
    """
    from filelock import FileLock
    from llvmlite.binding import get_host_cpu_name

    for part in parts:
        module = import_module(f"{__name__}.{part}")
        marker = CACHE_FOLDER / f"{part}-{get_host_cpu_name()}.compiled"
        if marker.exists():
            continue
        with FileLock(CACHE_FOLDER / "compiling.lock"):  # two processes that compile at once mix up their machine code
            if marker.exists():
                continue
            say(f"compiling the {part} kernels, once for this version and machine (kept in {CACHE_FOLDER})")
            module.warm_up()
            marker.touch()
