"""The order: a config and the packs that it names come in, the slots and everything fixed beforehand go out.

Earlier packs matter in three ways. `exclude`: their puzzles, and the withdrawn ones, are not used again. `append`: the
new Levels follow theirs, which stay as they are. `keep`: every Stage whose target is the same as before keeps its
puzzle, so that a hotfix changes what it must and nothing else.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from number_match import models
from number_match.assemble import Slot, level_ids, slots
from number_match.config import Config
from number_match.difficulty import THOUSAND
from number_match.errors import UserError
from number_match.identity import puzzle_id
from number_match.rules import Board
from number_match.simulate import SCORING_BEHAVIOUR


@dataclass(frozen=True)
class Known:
    """What an earlier pack says about a puzzle that may stand in the new one."""

    puzzle: models.Puzzle
    stage: models.Stage


@dataclass(frozen=True)
class Order:
    """What is asked for."""

    wanted: list[Slot]
    known: Mapping[str, Known]  # puzzles that stand by the word of an earlier pack, by id
    excluded: Mapping[str, str]  # why not to use it: by canonical id
    excluded_ids: Mapping[str, str]  # the same by puzzle id, for withdrawn puzzles
    before: models.Pack | None  # the pack that is extended
    old: models.Pack | None  # the pack that is changed

    @property
    def reserved(self) -> frozenset[str]:
        """Puzzles that stand only where a slot names them."""
        return frozenset(slot.puzzle for slot in self.wanted if slot.puzzle)


def take_order(config: Config) -> Order:
    """Read the packs that the config names and settle what they settle.

    Raises:
        UserError: a pack cannot be read, or does not go together with the config.
    """
    settings = config.assemble
    before = _pack(settings.append, "assemble.append", config) if settings.append else None
    old = _pack(settings.keep, "assemble.keep", config) if settings.keep else None
    known = _known(old) if old else {}
    standing = [level.id for level in before.levels] if before else []
    names = [*standing, *level_ids(settings, len(standing))]
    if twice := next((name for number, name in enumerate(names) if name in names[:number]), None):
        raise UserError(f"assemble.level: two Levels would have the id {twice}; expected each Level to have its own")
    wanted = slots(settings, config.rules.adds, len(standing))
    pins = _pins(config, wanted)
    placed = []
    for slot in wanted:
        if slot.id in pins:
            slot = replace(slot, puzzle=pins[slot.id])
        elif old and (kept := _kept(old, slot)) and kept.puzzle not in (*settings.ban, *pins.values()):
            slot = replace(slot, puzzle=kept.puzzle, adds=(kept.adds, kept.adds), slack=0)
        placed.append(slot)
    fixed = {slot.puzzle for slot in placed}
    excluded: dict[str, str] = {}
    excluded_ids = dict.fromkeys(settings.ban, "assemble.ban")
    earlier = _excluded_packs(config)
    if before:
        earlier.append((before, Path(str(settings.append)).name))
    for pack, name in earlier:
        excluded |= {puzzle.canonical: f"in {name}" for puzzle in pack.puzzles}
        excluded_ids |= dict.fromkeys(pack.withdrawn, f"withdrawn in {name}")
    if old:
        gone = [item.puzzle for item in known.values() if item.puzzle.id in settings.ban]
        excluded |= {puzzle.canonical: "assemble.ban" for puzzle in gone}
        excluded |= {item.puzzle.canonical: "kept" for name, item in known.items() if name in fixed}
        excluded_ids |= dict.fromkeys(old.withdrawn, f"withdrawn in {settings.keep}")
    kept_ones = {name: item for name, item in known.items() if name in fixed}
    return Order(placed, kept_ones, excluded, excluded_ids, before, old)


def _pack(path: str, key: str, config: Config) -> models.Pack:
    """A pack that the new one goes on from: same rules, same scoring."""
    pack = _read(path, key)
    theirs_rules, our_rules = pack.ruleset.rules().settings, config.rules.parsed.settings
    if theirs_rules != our_rules:
        raise UserError(f"{key}: {path} has the ruleset {theirs_rules}; expected that of rules.ruleset, {our_rules}")
    theirs, ours = pack.scoring, scoring_block(config)
    for name in models.Scoring.model_fields:
        if getattr(theirs, name) != getattr(ours, name):
            raise UserError(
                f"{key}: {path} was scored otherwise (scoring.{name} differs), so its difficulty cannot stand beside "
                "the new one; expected the seed and the [score] section that made it"
            )
    return pack


def scoring_block(config: Config) -> models.Scoring:
    """The pack's word about how difficulty was measured."""
    score = config.score
    block: dict[str, object] = {"behaviour": SCORING_BEHAVIOUR, "seed": config.seed, "reference": score.reference}
    if score.weights:
        block["weights"] = dict(score.weights)
    if score.calibration:
        block["calibration"] = score.calibration.model_dump(mode="python")
    block["players"] = {name: score.players[name].model_dump(mode="json") for name in score.panel}
    block["bands"] = tuple(models.Band(name=band.name, from_=band.start) for band in score.bands)
    return models.Scoring.model_validate(block)


def _pins(config: Config, wanted: list[Slot]) -> dict[str, str]:
    """The puzzle id that each pinned Stage must have."""
    ids = {slot.id for slot in wanted}
    found: dict[str, str] = {}
    for stage, text in config.assemble.pin.items():
        key = f"assemble.pin.{stage}"
        if stage not in ids:
            raise UserError(f"{key}: there is no such Stage; expected one of {wanted[0].id} … {wanted[-1].id}")
        pinned = text if text.startswith("p-") else puzzle_id(Board.parse(text, config.rules.parsed))
        if pinned in found.values():
            raise UserError(f"{key}: {text} is pinned twice; a puzzle stands once in a pack")
        found[stage] = pinned
    return found


def _known(old: models.Pack) -> dict[str, Known]:
    """The puzzles of a pack with the Stages that they stand in, by id."""
    puzzles = {puzzle.id: puzzle for puzzle in old.puzzles}
    return {stage.puzzle: Known(puzzles[stage.puzzle], stage) for level in old.levels for stage in level.stages}


def _kept(old: models.Pack, slot: Slot) -> models.Stage | None:
    """The Stage of the old pack that stays in this slot: same id, same target, an allowance that the slot has."""
    for level in old.levels:
        for stage in level.stages:
            if stage.id == slot.id:
                same = round(stage.difficulty.target * THOUSAND) == slot.target
                return stage if same and slot.adds[0] <= stage.adds <= slot.adds[1] else None
    return None


def _excluded_packs(config: Config) -> list[tuple[models.Pack, str]]:
    found = []
    for position, pattern in enumerate(config.assemble.exclude):
        names = sorted(glob.glob(pattern, recursive=True))
        if not names and not glob.has_magic(pattern):
            raise UserError(
                f"assemble.exclude[{position}]: {pattern} is not there; expected a pack, or a pattern: packs/*.json"
            )
        found += [(_read(name, f"assemble.exclude[{position}]"), Path(name).name) for name in names]
    return found


def _read(path: str, key: str) -> models.Pack:
    """A pack that the config names under `key`."""
    try:
        return models.read_pack(path)
    except models.PackError as error:
        raise UserError("\n".join(f"{key}: {line}" for line in str(error).splitlines())) from None
