"""The README cannot lie: every command in a console block is run, and must print what stands there."""

import re
import shlex
from pathlib import Path

import pytest

from conftest import Command

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def _transcripts() -> list[tuple[str, str]]:
    """(command, what it prints) for every command in the README's console blocks."""
    blocks = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    return [
        (command, printed) for block in blocks for command, printed in re.findall(r"\$ (.*)\n((?:(?!\$ ).*\n)*)", block)
    ]


@pytest.mark.parametrize(("line", "printed"), _transcripts(), ids=[line for line, _ in _transcripts()])
def test_a_command_prints_what_the_readme_shows(
    command: Command, monkeypatch: pytest.MonkeyPatch, line: str, printed: str
) -> None:
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(line)
    assert program == "number-match"
    assert command(*arguments).out == printed


def test_the_readme_has_transcripts_of_the_main_commands() -> None:
    assert {line.split()[1] for line, _ in _transcripts()} >= {"show", "solve", "verify"}


@pytest.mark.parametrize("name", sorted(set(re.findall(r"number-match ([a-z]+)\b", README))))
def test_every_command_that_the_readme_names_exists(command: Command, name: str) -> None:
    assert command(name, "--help").code == 0


def test_every_make_target_that_the_readme_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"make (pack|test|soak|lint|clean|golden|signature)\b", README)) <= targets


def test_every_option_that_the_readme_names_exists(command: Command) -> None:
    for name, options in re.findall(r"number-match ([a-z]+)([^`\n]*)", README):
        known = command(name, "--help").out
        for option in re.findall(r"--[a-z]+", options):
            assert option in known, (name, option)
