"""Runs of random configs: whatever is asked for, a pack holds to it or there is no pack."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from conftest import Command
from number_match import models
from number_match.assemble import class_rows, near_pairs
from number_match.config import Config
from number_match.config_files import load
from number_match.rules import Board, replay
from test_run import TINY

pytestmark = [pytest.mark.soak, pytest.mark.usefixtures("no_page")]

SETTINGS = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**53 - 1),
        "assemble.levels": st.integers(1, 3),
        "assemble.stages": st.integers(1, 4),
        "assemble.curve.kind": st.sampled_from(["linear", "sawtooth", "plateau"]),
        "assemble.curve.start": st.integers(0, 40),
        "assemble.curve.end": st.integers(20, 70),
        "assemble.adds": st.sampled_from(["[0, 3]", "[1, 2]", "2"]),
        "assemble.tolerance": st.sampled_from([5, 20]),
        "assemble.method": st.sampled_from(["repair", "milp"]),
        "assemble.constraints.slack": st.integers(0, 1),
        "assemble.constraints.family_in_row": st.integers(1, 3),
        "assemble.constraints.max_par": st.integers(4, 12),
        "assemble.constraints.near_duplicates.window": st.integers(1, 5),
        "assemble.topup.budget": st.sampled_from([0, 60]),
    }
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chosen=SETTINGS)
def test_a_pack_holds_to_its_config(chosen: dict[str, Any], command: Command, tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    words = [word for key, value in chosen.items() for word in ("--set", f"{key}={value}")]
    packs = []
    for shard_size in (7, 40):
        out = tmp_path / f"{chosen['seed']}-{shard_size}"
        outcome = command("run", "-c", path, "-o", out, *words, "--set", f"run.shard_size={shard_size}")
        assert outcome.code in (0, 1), outcome
        packs.append((out / "pack.json").read_bytes() if outcome.code == 0 else b"")
        if outcome.code:
            assert re.search("stays? empty", outcome.err), outcome
    assert packs[0] == packs[1]
    event("a pack" if packs[0] else "no pack")
    if packs[0]:
        pack = models.parse_pack(packs[0], "pack")
        assert isinstance(pack, models.Pack)
        holds(pack, load([path], words[1::2]))


def holds(pack: models.Pack, config: Config) -> None:
    """Every constraint of a config, checked on the pack itself."""
    assemble, rules = config.assemble, config.assemble.constraints
    assert [len(level.stages) for level in pack.levels] == [assemble.stages] * assemble.levels
    puzzles = {puzzle.id: puzzle for puzzle in pack.puzzles}
    stages = [stage for level in pack.levels for stage in level.stages]
    assert len({puzzle.canonical for puzzle in pack.puzzles}) == len(stages)
    low, high = assemble.adds or config.rules.adds
    for stage in stages:
        puzzle = puzzles[stage.puzzle]
        assert low <= stage.adds <= high
        assert puzzle.min_adds.upper + rules.slack <= stage.adds
        assert puzzle.par is not None
        assert puzzle.par.upper <= (rules.max_par or 99)
        assert replay(Board.parse(puzzle.board).with_adds(stage.adds), stage.solution).cleared
    families = [puzzles[stage.puzzle].family for stage in stages]
    assert max(len(list(group)) for _, group in itertools.groupby(families)) <= (rules.family_in_row or 99)
    near = rules.near_duplicates
    assert near is not None
    boards = class_rows(puzzles[stage.puzzle].board for stage in stages)
    assert list(near_pairs(boards, near.distance, near.window)) == []
