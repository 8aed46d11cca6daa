"""What several test files use."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from number_match import cli

DATA = Path(__file__).parent / "data"

MUTATIONS: Counter[tuple[str, bool]] = Counter()
"""(kind of mutation, whether it came out as it should): filled by test_pack_fields.py, shown below the test run."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many mutations of packs were caught."""
    for kind in sorted({kind for kind, _ in MUTATIONS}):
        caught, missed = MUTATIONS[kind, True], MUTATIONS[kind, False]
        terminalreporter.write_line(f"mutations, {kind}: {caught} of {caught + missed} came out as they should")


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one message of a command that refused; fails when it did anything else."""
        assert (self.code, self.out) == (2, ""), self
        assert self.err.startswith("error: "), self
        assert "Traceback" not in self.err
        return self.err.removeprefix("error: ").rstrip("\n")


Command = Callable[..., Outcome]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a `number-match` command line in this process: `command("solve", board, "--json")`."""

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = cli.run([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs end with pack and tables; the charts, which have tests of their own, are left out."""
    monkeypatch.setattr("number_match.report.write_report", lambda folder: folder / "report.html")


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The pack of an undisturbed run of the smallest config."""
    from test_run import TINY, process

    folder = tmp_path_factory.mktemp("whole")
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    process("run", "-c", folder / "tiny.toml", "-o", folder / "run")
    return (folder / "run" / "pack.json").read_bytes()
