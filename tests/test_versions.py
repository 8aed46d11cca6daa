"""The same packs and signatures with the oldest libraries that pyproject.toml allows, with the newest, and read-only.

Each test makes a virtual environment of its own, so that these are the longest tests of all.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SMOKE = ROOT / "configs" / "smoke.toml"

pytestmark = pytest.mark.soak


def call(*command: object, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command to its end, which must be good, and give what it printed."""
    words = list(map(str, command))
    ended = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd, env=os.environ | environment)
    assert ended.returncode == 0, f"{command}\n{ended.stdout[-2000:]}\n{ended.stderr[-4000:]}"
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it would be published."""
    folder = tmp_path_factory.mktemp("wheel")
    call(sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", folder, ROOT)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """The signatures and the smoke pack in this environment."""
    return products(Path(sys.executable), tmp_path_factory.mktemp("here"))


def products(python: Path, folder: Path) -> tuple[str, bytes]:
    """The signatures and the smoke pack that an environment makes."""
    signature = call(python, ROOT / "tests" / "signature.py")
    call(python, "-m", "number_match", "run", "-c", SMOKE, "-o", folder / "smoke", "--quiet")
    return signature, (folder / "smoke" / "pack.json").read_bytes()


@pytest.fixture
def installed(tmp_path: Path, wheel: Path) -> Callable[[str], Path]:
    """Make a virtual environment with the package and what a resolution of its ranges chooses; give its Python."""

    def install(resolution: str) -> Path:
        call(sys.executable, "-m", "uv", "venv", "--quiet", "--python", sys.executable, tmp_path / "venv")
        python = tmp_path / "venv" / "bin" / "python"
        install = (sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python)
        call(*install, f"--resolution={resolution}", "--requirements", ROOT / "pyproject.toml")
        call(*install, "--no-deps", wheel)
        return python

    return install


@pytest.mark.parametrize("resolution", ["lowest-direct", "highest"])
def test_packs_and_signatures_are_the_same_with_other_versions_of_the_libraries(
    installed: Callable[[str], Path], expected: tuple[str, bytes], tmp_path: Path, resolution: str
) -> None:
    assert products(installed(resolution), tmp_path) == expected


def test_a_read_only_install_serves_a_user_without_a_home(
    installed: Callable[[str], Path], expected: tuple[str, bytes], tmp_path: Path
) -> None:
    python = installed("highest")
    for place in (tmp_path / "venv").rglob("*"):
        if not place.is_symlink():
            place.chmod(place.stat().st_mode & ~0o222)
    out = tmp_path / "out"
    out.mkdir()
    prefix: tuple[object, ...] = ()
    if os.getuid() == 0 and shutil.which("setpriv") and _anybody_may_run(python):
        shutil.chown(out, "nobody")  # root may write anywhere: only another user can show it
        for folder in (tmp_path, *tmp_path.parents[:2]):
            folder.chmod(folder.stat().st_mode | 0o055)
        prefix = ("setpriv", "--reuid=nobody", "--clear-groups")
    smoke = tmp_path / "smoke.toml"
    smoke.write_bytes(SMOKE.read_bytes())
    command = (python, "-m", "number_match", "run", "-c", smoke, "-o", out / "smoke", "--quiet")
    call(*prefix, *command, cwd=tmp_path, HOME="/nonexistent", XDG_CACHE_HOME="", TMPDIR=str(out))
    assert (out / "smoke" / "pack.json").read_bytes() == expected[1]


def _anybody_may_run(python: Path) -> bool:
    """Whether every folder on the way to the interpreter behind a virtual environment is open to all."""
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in python.resolve().parents)
