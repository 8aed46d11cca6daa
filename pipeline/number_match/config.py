"""The config: TOML files and `--set` come in, one checked and frozen `Config` comes out, one section per stage.

Files are laid over one another from left to right, `--set a.b=v` over all of them. Unknown keys are refused, and so is
whatever contradicts itself in the config alone. Every complaint is a `UserError` that names the file, the key, the
value and what was expected. `run.json` of an earlier run is a config file too.

`[run]` says how to work and never changes the pack; everything else is part of `config_hash`.
"""

from __future__ import annotations

import glob
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import rfc8785
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from number_match.errors import UserError
from number_match.players import Player, default_panel
from number_match.rules import Board, NotationError, Ruleset, RulesetError

MAX_INTEGER = 2**53 - 1  # what JSON readers keep exactly


def _widen(value: object) -> object:
    """A number n is short for [n, n]."""
    return (value, value) if isinstance(value, int) and not isinstance(value, bool) else value


Name: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")]
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
StageId: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,56}-S[0-9]{2,4}$")]


def wrong(key: str, value: object, expected: str) -> PydanticCustomError:
    """An error found by a check of our own, at a key below the model that checks."""
    text = {"key": key, "value": value, "expected": expected}
    return PydanticCustomError("expected", "{expected}", text)


def _ordered(key: str, pair: tuple[float, float]) -> None:
    if pair[0] > pair[1]:
        raise wrong(key, list(pair), "expected [low, high] with low at most high")


class Section(BaseModel):
    """What all parts of a config have in common: unknown keys refused, values frozen."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


# ---------------------------------------------------------------------------------------------------- what is made


class PackConfig(Section):
    """What the pack is called."""

    id: Name = "pack"
    title: Annotated[str, Field(min_length=1, max_length=200)] = "Number Match"
    version: Annotated[int, Field(ge=1, le=MAX_INTEGER)] = 1


class RulesConfig(Section):
    """The game, and the allowances that Stages of this run may have."""

    ruleset: str = "veyra-1"
    adds: Adds = (1, 5)

    @model_validator(mode="after")
    def _check(self) -> RulesConfig:
        _ordered("adds", self.adds)
        try:
            Ruleset.parse(self.ruleset)
        except RulesetError as error:
            raise wrong("ruleset", self.ruleset, str(error)) from None
        return self

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

    @model_validator(mode="after")
    def _check(self) -> Family:
        if self.file is not None:
            for key in ("cells", "digits", "parity", "equal_pairs", "share"):
                if key in self.model_fields_set and getattr(self, key) != type(self).model_fields[key].default:
                    raise wrong(key, getattr(self, key), "expected nothing beside file, which gives the boards")
            return self
        if self.cells is None:
            raise wrong(
                "cells", None, "expected a number of cells, a range [low, high], or file = a text file of boards"
            )
        _ordered("cells", self.cells)
        if not any(self.digits):
            raise wrong("digits", list(self.digits), "expected at least one weight above 0")
        if not self.sizes:
            raise wrong(
                "cells",
                list(self.cells),
                'expected an even number in the range: with parity = "even" every '
                "class has an even number of cells, so no board of this family exists",
            )
        return self

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of cells that boards of this family have, equally often."""
        low, high = self.cells or (1, 0)
        return tuple(n for n in range(low, high + 1) if self.parity == "any" or n % 2 == 0)


class GenerateConfig(Section):
    """Candidates: how many, and of which families."""

    candidates: Annotated[int, Field(ge=0, le=100_000_000)] = 1000
    families: Annotated[tuple[Family, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check(self) -> GenerateConfig:
        names = [family.name for family in self.families]
        for position, name in enumerate(names):
            if name in names[:position] or name == PINNED:
                raise wrong(f"families.{position}.name", name, "expected a name that no other family has")
        return self

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

    @model_validator(mode="after")
    def _check(self) -> Sampling:
        if self.cap < self.playouts:
            raise wrong("most", self.most, f"expected at least playouts = {self.playouts}")
        return self

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

    @model_validator(mode="after")
    def _check(self) -> Calibration:
        scores, values = zip(*self.points, strict=True)
        if (scores[0], scores[-1]) != (0, 100) or any(a >= b for a, b in pairwise(scores)):
            raise wrong("points", list(scores), "expected blended scores that rise from 0 to 100")
        if any(a > b for a, b in pairwise(values)):
            raise wrong("points", list(values), "expected scores of people that never fall")
        return self


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

    @model_validator(mode="after")
    def _check(self) -> ScoreConfig:
        known = ", ".join(self.players)
        for position, name in enumerate(self.panel):
            if name not in self.players:
                raise wrong(f"panel.{position}", name, f"expected a player ({known})")
            if name in self.panel[:position]:
                raise wrong(f"panel.{position}", name, "expected each player once")
        for name in self.players:
            if name not in self.panel:
                raise wrong("panel", list(self.panel), f"expected {name!r} in it, which [score.players] describes")
        if self.reference not in self.players:
            raise wrong("reference", self.reference, f"expected a player of the panel ({known})")
        for name in self.weights:
            if name not in self.players:
                raise wrong(f"weights.{name}", self.weights[name], f"expected a player of the panel ({known})")
        starts = [band.start for band in self.bands]
        if starts[0] != 0 or any(a >= b for a, b in pairwise(starts)):
            raise wrong("bands", starts, "expected the first band from 0 and each next one from a higher score")
        return self

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

    stage: Annotated[int, Field(ge=1)]
    target: Points


class Curve(Section):
    """The target of every Stage of the pack, or of one Level.

    linear: straight from `start` to `end`. sawtooth: the same rise, but within each `period` of Stages it climbs
    steeper and then falls back by `depth` points for relief. plateau: up in steps of `period` Stages. list:
    `values`, one a Stage. points: straight lines between `points`. A kind reads its own keys and lets the others
    rest, so that kinds can be tried out. `unit = "pass"` gives the targets as pass rates, so that 80 means a score
    of 20.
    """

    kind: Literal["linear", "sawtooth", "plateau", "list", "points"] = "linear"
    unit: Literal["score", "pass"] = "score"
    start: Points = 10.0
    end: Points = 60.0
    period: Annotated[int, Field(ge=1, le=1000)] = 6
    depth: Points = 10.0
    values: tuple[Points, ...] = ()
    points: tuple[CurvePoint, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Curve:
        if self.kind == "list" and not self.values:
            raise wrong("values", [], 'expected one target a Stage beside kind = "list"')
        if self.kind == "points":
            stages = [point.stage for point in self.points]
            if not stages or any(a >= b for a, b in pairwise(stages)):
                raise wrong(
                    "points", stages, "expected at least one point, and each at a later Stage than the one before"
                )
        return self


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
    max_par: Annotated[int, Field(ge=1)] | None = None
    max_actions: Annotated[int, Field(ge=1)] | None = None
    early_add: Literal["allowed", "never"] = "allowed"
    family_in_row: Annotated[int, Field(ge=1)] | None = None
    near_duplicates: NearDuplicates | None = NearDuplicates()


class LevelConfig(Section):
    """What one Level has of its own; what is not given is as in `[assemble]`."""

    level: Annotated[int, Field(ge=1)]
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
    node_limit: Annotated[int, Field(ge=1)] = 10_000
    level: tuple[LevelConfig, ...] = ()
    topup: TopUp = TopUp()
    pin: dict[StageId, str] = Field(default_factory=dict)
    ban: tuple[Annotated[str, Field(pattern=r"^p-[0-9a-f]{20}$")], ...] = ()
    exclude: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    append: Annotated[str, Field(min_length=1)] | None = None
    keep: Annotated[str, Field(min_length=1)] | None = None


# ------------------------------------------------------------------------------------------------------------- run


class RunConfig(Section):
    """How the work is done. Nothing here changes the pack."""

    out: Annotated[str, Field(min_length=1)] | None = None
    workers: Annotated[int, Field(ge=1, le=4096)] | None = None
    engine: Literal["inline", "local", "dask"] = "local"
    scheduler: str | None = None
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

    @model_validator(mode="after")
    def _check(self) -> Config:
        self._check_decimals()
        rules, assemble = self.rules, self.assemble
        wanted = assemble.levels * assemble.stages
        if not any(family.file for family in self.generate.families):
            most = self.generate.candidates + assemble.topup.budget
            if most + len(assemble.pin) < wanted and assemble.keep is None:
                raise wrong(
                    "generate.candidates",
                    self.generate.candidates,
                    f"expected enough for assemble.levels × assemble.stages = {wanted} Stages",
                )
        self._check_allowance("assemble", assemble.adds, assemble.constraints.slack)
        names = [family.name for family in self.generate.families]
        self._check_families("assemble.families", assemble.families, names)
        if assemble.append and assemble.keep:
            raise wrong("assemble.append", assemble.append, "expected either append or keep, not both")
        if assemble.constraints.floor_player not in (None, *self.score.players):
            raise wrong(
                "assemble.constraints.floor_player",
                assemble.constraints.floor_player,
                f"expected a player of score.panel ({', '.join(self.score.panel)})",
            )
        self._check_curve("assemble.curve", assemble.curve, wanted)
        seen: set[int] = set()
        for position, level in enumerate(assemble.level):
            key = f"assemble.level.{position}"
            if level.level > assemble.levels or level.level in seen:
                raise wrong(
                    f"{key}.level", level.level, f"expected each once, from 1 to assemble.levels = {assemble.levels}"
                )
            seen.add(level.level)
            slack = assemble.constraints.slack if level.slack is None else level.slack
            self._check_allowance(key, level.adds or assemble.adds, slack)
            self._check_families(f"{key}.families", level.families, names)
            if level.curve is not None:
                self._check_curve(f"{key}.curve", level.curve, assemble.stages)
        for stage, text in assemble.pin.items():
            key = f"assemble.pin.{stage}"
            if re.fullmatch(r"p-[0-9a-f]{20}", text):
                if text in assemble.ban:
                    raise wrong(key, text, "expected a puzzle that assemble.ban does not name")
                continue
            try:
                board = Board.parse(text, rules.parsed)
            except NotationError as error:
                raise wrong(key, text, f"expected a board or a puzzle id: {error}") from None
            if not board.active or board.adds:
                raise wrong(key, text, "expected a board with a digit on it and without +N, or a puzzle id")
        return self

    def _check_decimals(self) -> None:
        """Packs hold at most four decimals, and whatever decides a pack can stand in one."""
        for path, leaf in _leaves(self.resolved()):
            if isinstance(leaf, float) and round(leaf, 4) != leaf:
                raise wrong(".".join(path), leaf, "expected a number with at most four decimals")

    def _check_allowance(self, key: str, adds: tuple[int, int] | None, slack: int) -> None:
        low, high = adds or self.rules.adds
        _ordered(f"{key}.adds", (low, high))
        if low < self.rules.adds[0] or high > self.rules.adds[1]:
            raise wrong(f"{key}.adds", [low, high], f"expected a range within rules.adds = {list(self.rules.adds)}")
        if high < slack:
            raise wrong(f"{key}.adds", [low, high], f"expected allowances of at least the slack over min Adds, {slack}")

    def _check_families(self, key: str, chosen: tuple[str, ...] | None, names: list[str]) -> None:
        for name in chosen or ():
            if name not in names:
                raise wrong(key, list(chosen or ()), f"expected names of generate.families ({', '.join(names)})")

    def _check_curve(self, key: str, curve: Curve, stages: int) -> None:
        if curve.kind == "list" and len(curve.values) != stages:
            raise wrong(f"{key}.values", f"{len(curve.values)} values", f"expected one for each of the {stages} Stages")
        if curve.kind == "points" and curve.points[-1].stage > stages:
            raise wrong(f"{key}.points", curve.points[-1].stage, f"expected Stages from 1 to {stages}")

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
            _put(values, key.split("."), digests)
        return "sha256:" + sha256(rfc8785.dumps(values)).hexdigest()


def read_file(path: Path, key: str) -> bytes:
    """The contents of a file that the config names under `key`.

    Raises:
        UserError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{key}: {path} cannot be read: {error.strerror}") from None


# ---------------------------------------------------------------------------------------------------------- loading

_PATH_KEYS = re.compile(r"generate\.families\.\d+\.file|assemble\.(append|keep|exclude\.\d+)")


def load(files: Sequence[Path], settings: Sequence[str] = (), run: Mapping[str, Any] | None = None) -> Config:
    """The config of these files, laid over one another, with the settings `a.b=v` over them.

    Names of files in a config are relative to the folder that it lies in. `run` is what the command line's own options
    say of `[run]`.

    Raises:
        UserError: what is wrong, where, and what was expected.
    """
    values: dict[str, Any] = {}
    sources: dict[tuple[str, ...], str] = {}
    for file in files:
        given = _read(file)
        for path, leaf in _leaves(given):
            if isinstance(leaf, str) and _PATH_KEYS.fullmatch(".".join(path)):
                _put(given, list(path), str((file.parent / leaf).absolute()))
        _lay_over(values, given)
        for path, _ in _leaves(given):
            sources[path] = str(file)
    as_text: dict[tuple[str, ...], str] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        path = tuple(key.strip().split("."))
        if not equals or not all(path):
            raise UserError(f"--set {setting}: expected KEY=VALUE, such as assemble.stages=12")
        _set(values, path, _toml_value(text), setting)
        sources[path], as_text[path] = f"--set {setting}", text
    for key, value in (run or {}).items():
        _set(values, ("run", key), value, f"run.{key}={value}")
        sources["run", key] = f"--{key}"
    return _checked(values, sources, as_text, files)


def _checked(
    values: dict[str, Any],
    sources: Mapping[tuple[str, ...], str],
    as_text: dict[tuple[str, ...], str],
    files: Sequence[Path],
) -> Config:
    try:
        return Config.model_validate(with_tuples(values))
    except ValidationError as error:
        for detail in error.errors():
            path = tuple(map(str, detail["loc"]))
            if detail["type"] == "string_type" and path in as_text:  # `--set pack.title=12` means the text
                _set(values, path, as_text.pop(path), "")
                return _checked(values, sources, as_text, files)
        details = error.errors()
        places = [detail["loc"] for detail in details]
        inner = [d for d in details if not any(place[: len(d["loc"])] == d["loc"] != place for place in places)]
        raise UserError("\n".join(_complaint(detail, sources, files) for detail in inner)) from None


def with_tuples(values: Any) -> Any:
    """The same values with tuples for lists, as the models have them."""
    if isinstance(values, dict):
        return {key: with_tuples(value) for key, value in values.items()}
    return tuple(map(with_tuples, values)) if isinstance(values, list) else values


def _complaint(detail: ErrorDetails, sources: Mapping[tuple[str, ...], str], files: Sequence[Path]) -> str:
    """One line: file, key, value, what was expected."""
    path = tuple(map(str, detail["loc"]))
    context = detail.get("ctx", {})
    value: object = detail["input"]
    if detail["type"] == "expected":
        path, value = (*path, *context["key"].split(".")), context["value"]
    near = max(sources, key=lambda known: _common(known, path), default=())
    source = sources.get(near) if _common(near, path) else None
    where = f"{source or ' '.join(map(str, files)) or 'config'}: "
    key = re.sub(r"\.(\d+)", r"[\1]", ".".join(path))
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        known = _known_keys(path[:-1])
        close = get_close_matches(path[-1], known, 1)
        hint = f"did you mean {close[0]}?" if close else f"known here: {', '.join(known)}"
        return f"{where}{key}: unknown key ({hint})"
    if detail["type"] == "missing":
        return f"{where}{key}: missing; expected {_a_kind_of(path)}"
    shown = json.dumps(value, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    message = message.replace("Input should be", "expected").replace("should match", "expected to match")
    return f"{where}{key} is {shown}: {message}"


def _a_kind_of(path: tuple[str, ...]) -> str:
    return "a section or list of sections" if path[-1] in ("generate", "families") else "a value"


def _known_keys(path: tuple[str, ...]) -> list[str]:
    """The keys that a section has."""
    model: Any = Config
    for part in path:
        if isinstance(model, type) and issubclass(model, BaseModel) and not part.isdigit():
            field = next((f for name, f in model.model_fields.items() if part in (name, f.alias)), None)
            model = field.annotation if field else None
        model = _model_in(model)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return []
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> Any:
    """The pydantic model inside `Model | None`, `tuple[Model, ...]` or `dict[str, Model]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in getattr(annotation, "__args__", ()) if (found := _model_in(arg)) is not None), None)


def _common(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """How many leading parts two paths share."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def _read(file: Path) -> dict[str, Any]:
    """The tables of one file, TOML or the `config` of a run.json."""
    try:
        text = file.read_bytes().decode()
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: expected text in UTF-8, byte {error.start} is not") from None
    if file.suffix == ".json":
        try:
            record = json.loads(text)
        except ValueError as error:
            raise UserError(f"{file}: expected the run.json of a run: {error}") from None
        except RecursionError:
            raise UserError(f"{file}: expected the run.json of a run: nested too deeply") from None
        if not isinstance(record, dict) or not isinstance(record.get("config"), dict):
            raise UserError(f"{file}: expected the run.json of a run, with its config in it")
        return dict(record["config"])
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{file}: expected TOML: {error}") from None
    except RecursionError:
        raise UserError(f"{file}: expected TOML: nested too deeply") from None


def _toml_value(text: str) -> Any:
    """A value as TOML writes it; what is not TOML is text, so that quotes can be left out."""
    try:
        table = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return table["value"] if list(table) == ["value"] else text


def _leaves(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value that is neither a table nor a list, with its path; empty tables and lists count as values."""
    items = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    empty = True
    for key, value in list(items):
        empty = False
        yield from _leaves(value, (*path, str(key)))
    if empty:
        yield path, values


def _lay_over(under: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Tables are merged, everything else is replaced."""
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(under.get(key), dict):
            _lay_over(under[key], value)
        else:
            under[key] = value


def _put(values: Any, path: Sequence[str], value: Any) -> None:
    """Set what is there already at a path."""
    for part in path[:-1]:
        values = values[int(part)] if isinstance(values, list) else values[part]
    last = path[-1]
    if isinstance(values, list):
        values[int(last)] = value
    else:
        values[last] = value


def _set(values: Any, path: tuple[str, ...], value: Any, setting: str) -> None:
    """Set a value at a path, making tables on the way; a number picks an element of a list."""
    for position, part in enumerate(path):
        if isinstance(values, list):
            if not part.isdigit() or int(part) >= len(values):
                at = ".".join(path[:position])
                raise UserError(
                    f"--set {setting}: {at} is a list of {len(values)}; expected a number below that, not {part!r}"
                )
        elif not isinstance(values, dict):
            raise UserError(f"--set {setting}: {'.'.join(path[:position])} is a value, not a section")
        if position == len(path) - 1:
            _put(values, [part], value)
        else:
            values = values[int(part)] if isinstance(values, list) else values.setdefault(part, {})
