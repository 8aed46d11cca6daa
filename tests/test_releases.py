"""From one release to the next: excluded, extended and hot-fixed packs, pinned and banned puzzles, and `explain`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Command
from number_match import models
from number_match.identity import puzzle_id
from number_match.rules import Board
from test_run import TINY

pytestmark = pytest.mark.usefixtures("no_page")
Release = Callable[..., models.Pack]


@pytest.fixture
def release(command: Command, tmp_path: Path) -> Release:
    """Make a pack from the tiny config and more lines, in one shared run folder a name, and read it."""

    def run(name: str = "first", more: str = "", *settings: str) -> models.Pack:
        config = tmp_path / "release.toml"
        config.write_text(TINY, encoding="utf-8")
        over = tmp_path / "over.toml"
        over.write_text(more, encoding="utf-8")
        words = [word for setting in settings for word in ("--set", setting)]
        outcome = command("run", "-c", config, "-c", over, "-o", tmp_path / "runs" / name, *words)
        assert outcome.code == 0, outcome
        return models.read_pack(tmp_path / "runs" / name / "pack.json")

    return run


def stages_of(pack: models.Pack) -> dict[str, models.Stage]:
    return {stage.id: stage for level in pack.levels for stage in level.stages}


def lines_of(path: Path, kind: str) -> list[str]:
    """The lines of a pack's file that describe puzzles or Stages, without the comma behind."""
    return [line.rstrip(",") for line in path.read_text(encoding="utf-8").splitlines() if line.strip().startswith(kind)]


def test_excluded_puzzles_are_not_used_again(release: Release) -> None:
    first = release()
    second = release("second", '[assemble]\nexclude = ["runs/first/p*k.json"]\ntolerance = 20\n')
    assert not {puzzle.canonical for puzzle in first.puzzles} & {puzzle.canonical for puzzle in second.puzzles}


def test_an_extended_pack_keeps_every_byte_of_the_old_levels(release: Release, tmp_path: Path) -> None:
    first = release()
    second = release("second", '[assemble]\nappend = "runs/first/pack.json"\ntolerance = 20\n')
    old, new = (tmp_path / "runs" / name / "pack.json" for name in ("first", "second"))
    for kind in ('{"id": "p-', '{"id": "L'):
        assert lines_of(new, kind)[: len(lines_of(old, kind))] == lines_of(old, kind)
    assert [level.id for level in second.levels] == ["L001", "L002", "L003", "L004"]
    assert second.pack_version == first.pack_version + 1
    assert len({puzzle.canonical for puzzle in second.puzzles}) == 12


def test_a_hotfix_changes_the_banned_stage_alone(release: Release) -> None:
    first = release()
    bad = first.levels[1].stages[0]
    second = release("second", f'[assemble]\nkeep = "runs/first/pack.json"\nban = ["{bad.puzzle}"]\ntolerance = 20\n')
    old, new = stages_of(first), stages_of(second)
    assert [name for name in old if old[name] != new[name]] == [bad.id]
    assert second.withdrawn == (bad.puzzle,)
    assert second.pack_version == 2
    third = release("third", '[assemble]\nkeep = "runs/second/pack.json"\n')
    assert bad.puzzle not in {puzzle.id for puzzle in third.puzzles}
    assert third.withdrawn == (bad.puzzle,)
    assert stages_of(third) == new


def test_a_nudged_level_changes_alone(release: Release) -> None:
    first = release()
    nudged = (
        '[assemble]\nkeep = "runs/first/pack.json"\ntolerance = 30\n'
        '[[assemble.level]]\nlevel = 2\ncurve = { kind = "list", values = [40, 52, 30] }\n'
    )
    old, new = stages_of(first), stages_of(release("second", nudged))
    assert [name for name in old if old[name] != new[name]] == ["L002-S02", "L002-S03"]
    assert new["L002-S03"].difficulty.target == 30


def test_pins_fix_boards_and_puzzles(release: Release) -> None:
    first = release()
    tutorial, other = "199128", first.levels[0].stages[2].puzzle
    pinned = release("second", f'[assemble.pin]\n"L001-S01" = "{tutorial}"\n"L002-S01" = "{other}"\n')
    stages = stages_of(pinned)
    assert stages["L001-S01"].puzzle == puzzle_id(Board.parse(tutorial))
    assert stages["L002-S01"].puzzle == other
    assert next(puzzle for puzzle in pinned.puzzles if puzzle.id == stages["L001-S01"].puzzle).family == "pinned"


def test_a_pack_that_was_scored_otherwise_is_not_extended(release: Release, command: Command, tmp_path: Path) -> None:
    release()
    config = tmp_path / "release.toml"
    outcome = command(
        "run", "-c", config, "--set", "seed=9", "--set", f"assemble.append={tmp_path}/runs/first/pack.json"
    )
    assert "assemble.append" in outcome.complaint
    assert "scoring.seed" in outcome.complaint
    missing = command("run", "-c", config, "--set", f"assemble.keep={tmp_path}/none.json")
    assert "none.json" in missing.complaint


def test_explain_tells_target_way_and_alternatives(release: Release, command: Command, tmp_path: Path) -> None:
    pack = release("first", "[assemble.constraints]\nfloor = 1\nmax_actions = 60\n")
    path = tmp_path / "runs" / "first" / "pack.json"
    stage = pack.levels[1].stages[1]
    text = command("explain", path, stage.id).out
    assert f"target {stage.difficulty.target:g}, achieved {stage.difficulty.score:g}" in text
    assert f"puzzle {stage.puzzle}" in text
    assert "of family" in text
    assert text.count(" away   ") == 5
    alone = tmp_path / "alone.json"
    alone.write_bytes(path.read_bytes())
    assert "no run folder beside the pack" in command("explain", alone, stage.id).out
    assert "expected one of L001-S01" in command("explain", path, "L009-S01").complaint
