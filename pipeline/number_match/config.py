"""The config: one checked and frozen section per stage. Values come in from `config_files.py`, whatever contradicts
itself in the config alone is refused, and unknown keys are, too.

`[run]` says how to work and never changes the pack; everything else is part of `config_hash`.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

import rfc8785
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from number_match.complaints import Problem, matching, refuse
from number_match.difficulty import rises
from number_match.errors import UserError, reason
from number_match.players import Player, default_panel
from number_match.rules import Board, NotationError, Ruleset, RulesetError
from number_match.words import counted, shortened

MAX_INTEGER = 2**53 - 1  # what JSON readers keep exactly


def _widen(value: object) -> object:
    """A number n is short for [n, n]."""
    return (value, value) if isinstance(value, int) and not isinstance(value, bool) else value


Positive: TypeAlias = Annotated[int, Field(ge=1, le=MAX_INTEGER)]
Name: TypeAlias = Annotated[str, matching(r"^[A-Za-z0-9-]{1,64}$", "1 to 64 letters, digits and hyphens")]
_Allowance: TypeAlias = Annotated[int, Field(ge=0, le=20)]
_Size: TypeAlias = Annotated[int, Field(ge=1, le=1000)]
Adds: TypeAlias = Annotated[
    tuple[_Allowance, _Allowance],
    BeforeValidator(_widen, json_schema_input_type=_Allowance | tuple[_Allowance, _Allowance]),
]
Cells: TypeAlias = Annotated[
    tuple[_Size, _Size], BeforeValidator(_widen, json_schema_input_type=_Size | tuple[_Size, _Size])
]
Points: TypeAlias = Annotated[float, Field(ge=0, le=100)]
StageId: TypeAlias = Annotated[
    str, matching(r"^[A-Za-z0-9-]{1,56}-S[0-9]{2,4}$", "the id of a Stage, such as L003-S05")
]
PuzzleId: TypeAlias = Annotated[str, matching(r"^p-[0-9a-f]{20}$", "the id of a puzzle, p- and 20 hex digits")]


def _ordered(key: str, pair: tuple[float, float]) -> Iterator[Problem]:
    if pair[0] > pair[1]:
        yield Problem(key, list(pair), "expected [low, high] with low at most high")


def _some(names: Iterable[str]) -> str:
    """Names for a message, each once."""
    return shortened(", ".join(dict.fromkeys(names)), 200)


class Section(BaseModel):
    """What all parts of a config have in common: unknown keys refused, values frozen, and checks of their own."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse(self._problems())
        return self

    def _problems(self) -> Iterator[Problem]:
        """What contradicts itself, of values that are each as they should be."""
        yield from ()


# ---------------------------------------------------------------------------------------------------- what is made


class PackConfig(Section):
    """What the pack is called."""

    id: Name = "pack"
    title: Annotated[str, Field(min_length=1, max_length=200)] = "Number Match"
    version: Positive = 1


class RulesConfig(Section):
    """The game, and the allowances that Stages of this run may have."""

    ruleset: str = "veyra-1"
    adds: Adds = (1, 5)

    def _problems(self) -> Iterator[Problem]:
        yield from _ordered("adds", self.adds)
        try:
            Ruleset.parse(self.ruleset)
        except RulesetError as error:
            why = str(error).removeprefix(f"ruleset {self.ruleset!r}: ")
            yield Problem("ruleset", self.ruleset, f"expected a ruleset: {shortened(why, 200)}")

    @property
    def parsed(self) -> Ruleset:
        return Ruleset.parse(self.ruleset)

    @property
    def max_adds(self) -> int:
        """The largest allowance of the run: boards are proved, and players measured, for 0 to this many Adds."""
        return self.adds[1]


class Family(Section):
    """One kind of board: random ones of some size and digit weights, or the hand-made ones of a text file."""

    name: Name
    cells: Cells | None = None
    digits: Annotated[tuple[Annotated[int, Field(ge=0, le=1_000_000)], ...], Field(min_length=9, max_length=9)] = (
        1,
    ) * 9
    parity: Literal["any", "even"] = "any"
    equal_pairs: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    """The share of the opening pairs that are two equal digits, which are seen more easily than a sum of 10; digits are
    swapped within their classes for it, and that leaves the puzzle as it is. None: as the digits fall."""
    share: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    file: Annotated[str, Field(min_length=1)] | None = None

    def _problems(self) -> Iterator[Problem]:
        if self.file is not None:
            for key in ("cells", "digits", "parity", "equal_pairs", "share"):
                if key in self.model_fields_set and getattr(self, key) != type(self).model_fields[key].default:
                    yield Problem(
                        key, getattr(self, key), "expected nothing beside file, which gives the boards", ("file",)
                    )
            return
        if not any(self.digits):
            yield Problem("digits", list(self.digits), "expected at least one weight above 0")
        if self.cells is None:
            yield Problem(
                "cells", None, "expected a number of cells, a range [low, high], or file = a text file of boards"
            )
        elif self.cells[0] > self.cells[1]:
            yield from _ordered("cells", self.cells)
        elif not self.sizes:
            yield Problem(
                "cells",
                list(self.cells),
                'expected an even number in the range: with parity = "even" every '
                "class has an even number of cells, so no board of this family exists",
                ("parity",),
            )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of cells that boards of this family have, equally often."""
        low, high = self.cells or (1, 0)
        return tuple(n for n in range(low, high + 1) if self.parity == "any" or n % 2 == 0)


class GenerateConfig(Section):
    """Candidates: how many, and of which families."""

    candidates: Annotated[int, Field(ge=0, le=100_000_000)] = 1000
    families: Annotated[tuple[Family, ...], Field(min_length=1)]

    def _problems(self) -> Iterator[Problem]:
        names = [family.name for family in self.families]
        for position, name in enumerate(names):
            if name in names[:position] or name == PINNED:
                yield Problem(f"families.{position}.name", name, "expected a name that no other family has")

    def family(self, name: str) -> Family | None:
        return next((family for family in self.families if family.name == name), None)


PINNED = "pinned"  # the family of boards that `[assemble.pin]` gives as text


class ValidateConfig(Section):
    """The solver's budget for one board."""

    node_budget: Annotated[int, Field(ge=1, le=10**12)] = 1_000_000
    memory_mib: Annotated[int, Field(ge=1, le=1_048_576)] = 1024


class Sampling(Section):
    """How long one stream of playouts goes on for one board and player.

    `playouts` are played; then, when `most` is given, blocks of more until the 95% interval at every allowance of the
    run is narrower than ± `half_width` points, or `most` playouts are there.
    """

    playouts: Annotated[int, Field(ge=1, le=10_000_000)]
    most: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    half_width: Annotated[float, Field(gt=0, le=50)] = 2.5

    def _problems(self) -> Iterator[Problem]:
        if self.cap < self.playouts:
            yield Problem("most", self.most, f"expected at least playouts = {self.playouts}", ("playouts",))

    @property
    def cap(self) -> int:
        """The number of playouts at which it ends in any case."""
        return self.most or self.playouts


class Band(Section):
    """A name for Stages whose difficulty score is at least `from`."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    name: Name
    start: Annotated[Points, Field(alias="from")]


_BANDS = (("easy", 0.0), ("normal", 20.0), ("hard", 40.0), ("expert", 60.0))


class Calibration(Section):
    """A fit to telemetry, as `number-match calibrate` writes it: the score of people for blended scores of players."""

    kind: Literal["logistic", "isotonic"] = "logistic"
    points: Annotated[tuple[tuple[Points, Points], ...], Field(min_length=2)]

    def _problems(self) -> Iterator[Problem]:
        scores, values = zip(*self.points, strict=True)
        if not rises(scores):
            yield Problem("points", list(scores), "expected blended scores that rise from 0 to 100, by 0.001 at least")
        if any(a > b for a, b in pairwise(values)):
            yield Problem("points", list(values), "expected scores of people that never fall")


def _nothing_required(schema: dict[str, Any]) -> None:
    """`panel` and `players` are filled in when a config leaves them out."""
    schema.pop("required")


class ScoreConfig(Section):
    """The players, how much they play, and what is made of it."""

    model_config = ConfigDict(json_schema_extra=_nothing_required)

    reference: Name = "casual"
    weights: dict[Name, Annotated[int, Field(ge=1, le=1_000_000)]] = Field(default_factory=dict)
    calibration: Calibration | None = None
    panel: Annotated[tuple[Name, ...], Field(min_length=1)]
    players: dict[Name, Player]
    screen: Sampling = Sampling(playouts=400)
    select: Sampling = Sampling(playouts=6000)
    report: Sampling = Sampling(playouts=10_000)
    bands: Annotated[tuple[Band, ...], Field(min_length=1)] = tuple(
        Band(name=name, start=start) for name, start in _BANDS
    )

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, given: object) -> object:
        """A player of the default panel needs only the parameters that differ; the panel is everybody unless named."""
        if not isinstance(given, dict):
            return given
        standard = {name: player.model_dump(mode="json") for name, player in default_panel().items()}
        changed = given.get("players", {})
        if not isinstance(changed, dict):
            return given
        players = dict(standard)
        for name, parameters in changed.items():
            players[name] = standard.get(name, {}) | parameters if isinstance(parameters, dict) else parameters
        panel = given.get("panel", tuple(players))
        if isinstance(panel, tuple):
            players = {name: players[name] for name in panel if isinstance(name, str) and name in players} | {
                name: players[name] for name in changed if name not in panel
            }
        streams = {
            name: {"playouts": cls.model_fields[name].default.playouts} | given[name]
            for name in ("screen", "select", "report")
            if isinstance(given.get(name), dict)
        }
        return given | streams | {"panel": panel, "players": players}

    def _problems(self) -> Iterator[Problem]:
        known, named = _some((*default_panel(), *self.players)), _some(self.panel)
        for position, name in enumerate(self.panel):
            if name not in self.players:
                yield Problem(f"panel.{position}", name, f"expected a player ({known}) or one of [score.players]")
            if name in self.panel[:position]:
                yield Problem(f"panel.{position}", name, "expected each player once")
        for name in self.players:
            if name not in self.panel:
                expected = f"expected {name!r} in it, which [score.players] describes"
                yield Problem("panel", list(self.panel), expected, (f"players.{name}",))
        if self.reference not in self.panel:
            yield Problem("reference", self.reference, f"expected a player of the panel ({named})", ("panel",))
        for name, weight in self.weights.items():
            if name not in self.panel:
                yield Problem(f"weights.{name}", weight, f"expected a player of the panel ({named})", ("panel",))
        starts = [band.start for band in self.bands]
        if starts[0] != 0 or any(a >= b for a, b in pairwise(starts)):
            yield Problem("bands", starts, "expected the first band from 0 and each next one from a higher score")

    @property
    def blend(self) -> dict[str, int]:
        """The weight of each player whose pass rate makes the score: the reference alone unless `weights` says more."""
        return self.weights or {self.reference: 1}

    @property
    def scale(self) -> tuple[tuple[float, float], ...]:
        """The points of the calibration; none when scores stay as they are."""
        return self.calibration.points if self.calibration else ()

    @property
    def weakest(self) -> str:
        """The first player of the panel that is not the uniform reference: panels go from weak to strong."""
        return next((name for name in self.panel if name != "random"), self.panel[0])


# ------------------------------------------------------------------------------------------------------- assembly


class CurvePoint(Section):
    """A target at one Stage (its number in what the curve covers, counted from 1)."""

    stage: Positive
    target: Points


class Curve(Section):
    """The target of every Stage of the pack, or of one Level.

    linear: straight from `start` to `end`. sawtooth: the same rise, but within each `period` of Stages it climbs
    steeper and then falls back by `depth` points for relief. plateau: up in steps of `period` Stages. list:
    `values`, one a Stage. points: straight lines between `points`, level before the first and after the last, so that
    a single point is a level line. A kind reads its own keys and lets the others rest, so that kinds can be tried out.
    `unit = "pass"` gives the targets as pass rates, so that 80 means a score of 20.
    """

    kind: Literal["linear", "sawtooth", "plateau", "list", "points"] = "linear"
    unit: Literal["score", "pass"] = "score"
    start: Points = 10.0
    end: Points = 60.0
    period: Annotated[int, Field(ge=1, le=1000)] = 6
    depth: Points = 10.0
    values: tuple[Points, ...] = ()
    points: tuple[CurvePoint, ...] = ()

    def _problems(self) -> Iterator[Problem]:
        if self.kind == "list" and not self.values:
            yield Problem("values", [], 'expected one target a Stage beside kind = "list"')
        if self.kind == "points":
            stages = [point.stage for point in self.points]
            if not stages or any(a >= b for a, b in pairwise(stages)):
                yield Problem(
                    "points", stages, "expected at least one point, and each at a later Stage than the one before"
                )


class NearDuplicates(Section):
    """Two Stages closer than `window` differ in at least `distance` (0 to 1) of their cells, classes renamed at
    will."""

    distance: Annotated[float, Field(ge=0, le=1)] = 0.25
    window: Annotated[int, Field(ge=1, le=100_000)] = 24


class Constraints(Section):
    """What every Stage, and every run of Stages, must keep."""

    slack: Annotated[int, Field(ge=0, le=20)] = 0
    floor: Points | None = None
    floor_player: Name | None = None
    max_par: Positive | None = None
    max_actions: Positive | None = None
    early_add: Literal["allowed", "never"] = "allowed"
    family_in_row: Positive | None = None
    near_duplicates: NearDuplicates | None = NearDuplicates()


class LevelConfig(Section):
    """What one Level has of its own; what is not given is as in `[assemble]`."""

    level: Positive
    id: Name | None = None
    title: Annotated[str, Field(max_length=200)] | None = None
    curve: Curve | None = None
    adds: Adds | None = None
    slack: Annotated[int, Field(ge=0, le=20)] | None = None
    floor: Points | None = None
    families: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    early_add: Literal["allowed", "never"] | None = None


class TopUp(Section):
    """More candidates when Stages cannot be filled: `candidates` a round, at most `budget` in all."""

    candidates: Annotated[int, Field(ge=1, le=10_000_000)] = 500
    budget: Annotated[int, Field(ge=0, le=100_000_000)] = 0


class AssembleConfig(Section):
    """Levels × Stages on a curve."""

    levels: Annotated[int, Field(ge=1, le=10_000)] = 10
    stages: Annotated[int, Field(ge=1, le=9999)] = 12
    curve: Curve = Curve()
    adds: Adds | None = None
    families: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    tolerance: Annotated[float, Field(gt=0, le=100)] = 5.0
    shortlist: Annotated[int, Field(ge=1, le=1000)] = 6
    constraints: Constraints = Constraints()
    method: Literal["repair", "milp"] = "repair"
    node_limit: Positive = 10_000
    level: tuple[LevelConfig, ...] = ()
    topup: TopUp = TopUp()
    pin: dict[StageId, str] = Field(default_factory=dict)
    ban: tuple[PuzzleId, ...] = ()
    exclude: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    append: Annotated[str, Field(min_length=1)] | None = None
    keep: Annotated[str, Field(min_length=1)] | None = None

    def _problems(self) -> Iterator[Problem]:
        if self.append and self.keep:
            expected = "expected either assemble.append or assemble.keep, not both"
            yield Problem("append", self.append, expected, ("keep",))
        yield from self._covered("curve", self.curve, self.levels * self.stages, ("levels", "stages"))
        seen: set[int] = set()
        for position, level in enumerate(self.level):
            key = f"level.{position}"
            if level.level > self.levels or level.level in seen:
                expected = f"expected each once, from 1 to assemble.levels = {self.levels}"
                yield Problem(f"{key}.level", level.level, expected, ("levels",))
            seen.add(level.level)
            if level.curve is not None:
                yield from self._covered(f"{key}.curve", level.curve, self.stages, ("stages",))
        for stage, text in self.pin.items():
            if text in self.ban:
                yield Problem(f"pin.{stage}", text, "expected a puzzle that assemble.ban does not name", ("ban",))

    def _covered(self, key: str, curve: Curve, stages: int, size: tuple[str, ...]) -> Iterator[Problem]:
        """A curve over so many Stages; `size` are the keys that say how many."""
        if curve.kind == "list" and len(curve.values) != stages:
            found = counted(len(curve.values), "value")
            yield Problem(f"{key}.values", found, f"expected one for each of the {counted(stages, 'Stage')}", size)
        if curve.kind == "points" and curve.points[-1].stage > stages:
            expected = f"expected Stages from 1 to {stages}"
            yield Problem(f"{key}.points", [point.stage for point in curve.points], expected, size)


# ------------------------------------------------------------------------------------------------------------- run


class RunConfig(Section):
    """How the work is done. Nothing here changes the pack."""

    out: Annotated[str, Field(min_length=1)] | None = None
    workers: Annotated[int, Field(ge=1, le=4096)] | None = None
    engine: Literal["inline", "local", "dask"] = "local"
    scheduler: (
        Annotated[
            str, matching(r"^([a-z]+://)?[^\s/]+:[0-9]+$", "the address of a Dask scheduler, such as tcp://host:8786")
        ]
        | None
    ) = None
    shard_size: Annotated[int, Field(ge=1, le=1_000_000)] = 250


class Config(Section):
    """A whole config, resolved: every default is filled in."""

    seed: Annotated[int, Field(ge=0, le=MAX_INTEGER)] = 1
    pack: PackConfig = PackConfig()
    rules: RulesConfig = RulesConfig()
    generate: GenerateConfig
    validation: Annotated[ValidateConfig, Field(alias="validate")] = ValidateConfig()
    score: Annotated[ScoreConfig, Field(default_factory=lambda: ScoreConfig.model_validate({}))]
    assemble: AssembleConfig = AssembleConfig()
    run: RunConfig = RunConfig()

    model_config = ConfigDict(serialize_by_alias=True)

    def _problems(self) -> Iterator[Problem]:
        yield from self._decimals()
        assemble = self.assemble
        wanted = assemble.levels * assemble.stages
        if not any(family.file for family in self.generate.families):
            most = self.generate.candidates + assemble.topup.budget
            if most + len(assemble.pin) < wanted and assemble.keep is None:
                yield Problem(
                    "generate.candidates",
                    self.generate.candidates,
                    f"expected enough for assemble.levels × assemble.stages = {counted(wanted, 'Stage')}",
                    ("assemble.levels", "assemble.stages"),
                )
        yield from self._allowances()
        yield from self._families("assemble.families", assemble.families)
        if assemble.constraints.floor_player not in (None, *self.score.panel):
            yield Problem(
                "assemble.constraints.floor_player",
                assemble.constraints.floor_player,
                f"expected a player of score.panel ({_some(self.score.panel)})",
                ("score.panel",),
            )
        for position, level in enumerate(assemble.level):
            yield from self._families(f"assemble.level.{position}.families", level.families)
        for stage, text in assemble.pin.items():
            yield from self._pin(f"assemble.pin.{stage}", text)

    def _decimals(self) -> Iterator[Problem]:
        """Packs hold at most four decimals, and whatever decides a pack can stand in one."""
        for path, leaf in leaves(self.resolved()):
            if isinstance(leaf, float) and round(leaf, 4) != leaf:
                yield Problem(".".join(path), leaf, "expected a number with at most four decimals")

    def _allowances(self) -> Iterator[Problem]:
        """The ranges of Adds and the slack, of the whole pack and of each Level."""
        assemble = self.assemble
        adds = (assemble.adds, "assemble.adds") if assemble.adds else (self.rules.adds, "rules.adds")
        slack = assemble.constraints.slack, "assemble.constraints.slack"
        yield from self._allowance(*adds, *slack)
        for position, level in enumerate(assemble.level):
            key = f"assemble.level.{position}"
            own = adds if level.adds is None else (level.adds, f"{key}.adds")
            yield from self._allowance(*own, *(slack if level.slack is None else (level.slack, f"{key}.slack")))

    def _allowance(self, adds: tuple[int, int], key: str, slack: int, slack_key: str) -> Iterator[Problem]:
        least, most = self.rules.adds
        yield from _ordered(key, adds)
        if adds[0] < least or adds[1] > most:
            yield Problem(key, list(adds), f"expected a range within rules.adds = {[least, most]}", ("rules.adds",))
        if slack > adds[1]:
            expected = f"expected at most {adds[1]}, the largest allowance of {key} = {list(adds)}"
            yield Problem(slack_key, slack, expected, (key,))

    def _families(self, key: str, chosen: tuple[str, ...] | None) -> Iterator[Problem]:
        names = [family.name for family in self.generate.families]
        for position, name in enumerate(chosen or ()):
            if name not in names:
                expected = f"expected a name of generate.families ({_some(names)})"
                yield Problem(f"{key}.{position}", name, expected, ("generate.families",))

    def _pin(self, key: str, text: str) -> Iterator[Problem]:
        if re.fullmatch(r"p-[0-9a-f]{20}", text):
            return
        try:
            board = Board.parse(text, self.rules.parsed)
        except NotationError as error:
            expected = f"expected a board or a puzzle id: {shortened(str(error), 200)}"
            yield Problem(key, text, expected, ("rules.ruleset",))
            return
        if not board.active or board.adds:
            yield Problem(key, text, "expected a board with a digit on it and without +N, or a puzzle id")

    def resolved(self) -> dict[str, Any]:
        """Every key with its value, as JSON holds it."""
        return self.model_dump(mode="json", exclude_none=True)

    def files(self) -> dict[str, list[Path]]:
        """The files that the config names, by key; a pattern of `assemble.exclude` may name none."""
        found = {
            f"generate.families.{position}.file": [Path(family.file)]
            for position, family in enumerate(self.generate.families)
            if family.file
        }
        for key in ("append", "keep"):
            if name := getattr(self.assemble, key):
                found[f"assemble.{key}"] = [Path(name)]
        for position, pattern in enumerate(self.assemble.exclude):
            found[f"assemble.exclude.{position}"] = [Path(name) for name in sorted(glob.glob(pattern, recursive=True))]
        return found

    def hash(self) -> str:
        """`sha256:…` of all that decides the pack: every key but `[run]`, with files by content instead of by name."""
        values = self.resolved()
        del values["run"]
        for key, paths in self.files().items():
            digests: Any = sorted(sha256(read_file(path, key)).hexdigest() for path in paths)
            put(values, key.split("."), digests)
        return "sha256:" + sha256(rfc8785.dumps(values)).hexdigest()


def read_file(path: Path, key: str) -> bytes:
    """The contents of a file that the config names under `key`.

    Raises:
        UserError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        raise UserError(f"{key}: {path}: cannot be read: {reason(error)}") from None


# ------------------------------------------------------------------------------------------------- values as trees


def with_tuples(values: Any) -> Any:
    """The same values with tuples for lists, as the models have them."""
    if isinstance(values, dict):
        return {key: with_tuples(value) for key, value in values.items()}
    return tuple(map(with_tuples, values)) if isinstance(values, list) else values


def leaves(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value that is neither a table nor a list, with its path; empty tables and lists count as values."""
    items = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    empty = True
    for key, value in list(items):
        empty = False
        yield from leaves(value, (*path, str(key)))
    if empty:
        yield path, values


def put(values: Any, path: Sequence[str], value: Any) -> None:
    """Set what is there already at a path."""
    for part in path[:-1]:
        values = values[int(part)] if isinstance(values, list) else values[part]
    last = path[-1]
    if isinstance(values, list):
        values[int(last)] = value
    else:
        values[last] = value
