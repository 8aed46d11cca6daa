"""A pytest plugin that checks level packs: pack files come in, one test item a Stage goes out.

    pytest packs/                          every *.pack.json below packs/, each Stage at the quick level
    pytest --pack release/pack.json        a pack of another name
    pytest packs/ -m number_match_full     every Stage solved and played again

A Stage's item fails with every finding about that Stage. What is wrong with a pack as a whole (its hash, its bands, a
puzzle that no Stage uses) is one more item, `pack`, which is there only when something is wrong. A file that is no pack
fails by the reason. Without a pack the plugin does nothing, and it imports next to nothing until it finds one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from number_match.findings import Finding
    from number_match.models import ClientPack, Pack

FULL = "number_match_full"
SUFFIX = ".pack.json"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--pack`."""
    group = parser.getgroup("number-match", "level packs for Number Match")
    group.addoption(
        "--pack",
        action="append",
        default=[],
        metavar="FILE",
        help=f"check this pack, whatever its name (not only *{SUFFIX})",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and collect the packs that were named even when nothing else was."""
    config.addinivalue_line("markers", f"{FULL}: solve and play a Stage of a level pack again; chosen by -m {FULL}")
    if named := [str(path) for path in _named(config)]:
        given = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
        config.args = [*given, *(path for path in named if path not in given)]


def _named(config: pytest.Config) -> list[Path]:
    """The packs of `--pack`, which are named as seen from where pytest was called, without `..` in their paths."""
    called = config.invocation_params.dir
    return [Path(os.path.abspath(called / path)) for path in config.getoption("--pack")]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> PackFile | None:
    """A pack by its name, or because it was named."""
    if file_path.name.endswith(SUFFIX) or file_path in _named(parent.config):
        return PackFile.from_parent(parent, path=file_path)
    return None


class PackFile(pytest.File):
    """A pack: an item a Stage, and one for the whole when something is wrong with it."""

    @cached_property
    def pack(self) -> Pack | ClientPack:
        """What the file holds."""
        from number_match.models import PackError, read_any

        try:
            return read_any(self.path)
        except PackError as error:
            raise self.CollectError(str(error)) from None

    @cached_property
    def findings(self) -> list[Finding]:
        """Everything that the quick level finds, once for all items."""
        from number_match.verify_quick import quick

        return list(quick(self.pack, self.path.name))

    def collect(self) -> Iterator[pytest.Item]:
        """The items, in the order of the pack."""
        stages = [stage for level in self.pack.levels for stage in level.stages]
        names = {stage.id for stage in stages}
        owner = {stage.puzzle: stage.id for stage in reversed(stages)}
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            place = finding.stage if finding.stage in names else owner.get(finding.puzzle, "pack")
            found.setdefault(place, []).append(finding)
        if "pack" in found:
            yield StageItem.from_parent(self, name="pack", findings=found["pack"])
        full = FULL in (self.config.getoption("-m") or "")
        for stage_id in dict.fromkeys(stage.id for stage in stages):
            yield StageItem.from_parent(self, name=stage_id, findings=found.get(stage_id, []))
            if full:
                yield FullItem.from_parent(self, name=f"{stage_id}[full]", stage=stage_id)


class BrokenPack(AssertionError):
    """Findings about a Stage or a pack, as text."""


class StageItem(pytest.Item):
    """What the quick level found about one Stage."""

    def __init__(self, *, findings: Iterable[Finding], **rest: Any) -> None:
        super().__init__(**rest)
        self.findings = tuple(findings)

    def runtest(self) -> None:
        """Fail with every finding."""
        _fail(self.findings)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The findings alone: a traceback through this plugin tells nobody anything."""
        return str(excinfo.value) if isinstance(excinfo.value, BrokenPack) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the item is shown to be."""
        return self.path, None, self.name


class FullItem(StageItem):
    """One Stage solved and played again."""

    def __init__(self, *, stage: str, **rest: Any) -> None:
        super().__init__(findings=(), **rest)
        self.stage = stage
        self.add_marker(FULL)

    def runtest(self) -> None:
        """Fail with every finding; notes, such as tighter bounds, are let pass."""
        from number_match.models import Pack
        from number_match.verify_full import again

        parent = self.parent
        assert isinstance(parent, PackFile)
        if not isinstance(parent.pack, Pack):
            pytest.skip("a client file holds nothing to solve or play again")
        findings, _ = again(parent.pack, parent.path.name, stages={self.stage})
        _fail(finding for finding in findings if not finding.note)


def _fail(findings: Iterable[Finding]) -> None:
    lines = [str(finding) for finding in findings]
    if lines:
        raise BrokenPack("\n".join(lines))
