"""The pack format: bytes of unknown origin come in, checked records come out, and the other way round.

The records below describe a pack, and the JSON Schema is made from them. Reading is strict about everything that the
format names ("3" and true are not numbers) and keeps what it does not name: fields of later versions stay in the
records, in the hash and in what is written back. Whether the contents are *true* is not asked here: see `verify.py`.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal, NoReturn, TypeAlias, TypeVar

import rfc8785
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)

from number_match.complaints import MOST, complaints, matching
from number_match.difficulty import rises
from number_match.errors import UserError, reason
from number_match.rules import MAX_ADDS, MAX_WIDTH, Ruleset
from number_match.words import shown

FORMAT = "number-match-pack"
FORMAT_VERSION = 1

MAX_BYTES = 64 * 2**20
"""The largest file that is read, unless the caller allows more."""
MAX_VALUES = 4_000_000
"""The most values in a file (a pack of 1,000 Stages has some 100,000), which bounds the memory that reading takes."""
MAX_DEPTH = 32
MAX_BOARD_TEXT = 2_000
MAX_ACTIONS = 2_000
MAX_PLAYOUTS = 10_000_000
SAFE_INTEGER = 2**53 - 1
"""Larger integers are not the same in every reader of JSON (RFC 8785); packs write them as hex strings."""

# ------------------------------------------------------------------------------------------------------------- values


def _four_decimals(number: float) -> float:
    if round(number, 4) != number:
        raise ValueError("expected a number with at most four decimals")
    return number


Count: TypeAlias = Annotated[int, Field(ge=0, le=SAFE_INTEGER)]
Positive: TypeAlias = Annotated[int, Field(ge=1, le=SAFE_INTEGER)]
Adds: TypeAlias = Annotated[int, Field(ge=0, le=MAX_ADDS)]
Points: TypeAlias = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False), AfterValidator(_four_decimals)]
"""A difficulty, from 0 (everybody clears it) to 100 (nobody does)."""
Id: TypeAlias = Annotated[str, matching(r"^[A-Za-z0-9-]{1,64}$", "1 to 64 letters, digits and hyphens")]
Key: TypeAlias = Annotated[str, matching(r"^[A-Za-z0-9_-]{1,64}$", "1 to 64 letters, digits, hyphens and underscores")]
PuzzleId: TypeAlias = Annotated[str, matching(r"^p-[0-9a-f]{20}$", "the id of a puzzle, p- and 20 hex digits")]
Hash: TypeAlias = Annotated[str, matching(r"^sha256:[0-9a-f]{64}$", "sha256: and 64 hex digits")]
Title: TypeAlias = Annotated[str, Field(max_length=500)]
BoardText: TypeAlias = Annotated[
    str,
    matching(r"^[1-9./]+$", f"a board of at most {MAX_BOARD_TEXT} characters, rows of digits and dots joined by /"),
    Field(max_length=MAX_BOARD_TEXT),
]
Action: TypeAlias = Annotated[
    str, matching(r"^(\+|(0|[1-9][0-9]{0,8})-[1-9][0-9]{0,8})$", "an action, such as 3-12, or + for an Add")
]
Seed: TypeAlias = (
    Annotated[int, Field(ge=0, le=SAFE_INTEGER)]
    | Annotated[str, matching(r"^0x[0-9a-f]{1,16}$", "0x and up to 16 hex digits")]
)
"""A 64-bit number; in hex when it is larger than JSON carries safely."""

# ------------------------------------------------------------------------------------------------------------ records


class Record(BaseModel):
    """What a pack is made of: frozen, strict, and keeping the fields that it does not know."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow", validate_by_name=True, serialize_by_alias=True)


class Interval(Record):
    """A whole number known to lie between two bounds; equal when it is decided."""

    lower: Count
    upper: Count


class RulesetRecord(Record):
    """The ruleset that every board of the pack is played under."""

    id: Id
    width: Annotated[int, Field(ge=1, le=MAX_WIDTH)]
    row: bool
    column: bool
    diagonal: bool
    wrap: bool

    @classmethod
    def of(cls, ruleset: Ruleset) -> "RulesetRecord":
        """The record of a ruleset of `rules.py`."""
        return cls(
            id=ruleset.id,
            width=ruleset.width,
            row=ruleset.row,
            column=ruleset.column,
            diagonal=ruleset.diagonal,
            wrap=ruleset.wrap,
        )

    def rules(self) -> Ruleset:
        """The ruleset as `rules.py` plays it."""
        return Ruleset(self.id, self.width, self.row, self.column, self.diagonal, self.wrap)


class Puzzle(Record):
    """A board that was proved clearable, and what the solver knows about it."""

    id: PuzzleId
    board: BoardText
    canonical: Hash
    min_adds: Interval
    par: Interval | None
    """None when min Adds is not decided: par counts the pairs of clears with min Adds."""
    family: Key


class PlayerCounts(Record):
    """How one player of the panel fared with a puzzle, on the `report` stream."""

    passed: Annotated[tuple[Count, ...], Field(min_length=1)]
    """passed[a]: the playouts that cleared the board within allowance a."""
    playouts: Annotated[int, Field(ge=1, le=MAX_PLAYOUTS)]


class ClientDifficulty(Record):
    """How hard a Stage is and was meant to be."""

    score: Points
    band: Key
    target: Points


class Difficulty(ClientDifficulty):
    """The same with the counts that it follows from."""

    players: dict[Key, PlayerCounts]


class ClientStage(Record):
    """One puzzle with its allowance, as the game plays it."""

    id: Id
    puzzle: PuzzleId
    adds: Adds
    difficulty: ClientDifficulty


class Stage(ClientStage):
    """The same with the counts behind its difficulty, and a solution."""

    difficulty: Difficulty
    solution: Annotated[tuple[Action, ...], Field(max_length=MAX_ACTIONS)]


class ClientLevel(Record):
    """A sequence of Stages."""

    id: Id
    title: Title
    stages: Annotated[tuple[ClientStage, ...], Field(min_length=1)]


class Level(ClientLevel):
    """The same with everything known about its Stages."""

    stages: Annotated[tuple[Stage, ...], Field(min_length=1)]


class Generator(Record):
    """Which program and config made the pack."""

    name: Title
    version: Title
    config_hash: Hash
    seed: Seed


class SolverStamp(Record):
    """Which solver behaviour the bounds come from."""

    behaviour: Positive
    node_budget: Positive
    memory_mib: Positive | None = None
    """Memory for the solver's tables, which can decide when it gives up; 1024 when not given."""


class Band(Record):
    """A named range of difficulty, from a score up to the next band's."""

    name: Key
    from_: Annotated[Points, Field(alias="from")]


class Calibration(Record):
    """A fit of the players' blended score to what people did."""

    kind: Key
    points: Annotated[tuple[tuple[Points, Points], ...], Field(min_length=2)]
    """What blended scores become, by blended scores that rise from 0 to 100; straight lines lie between."""

    @model_validator(mode="after")
    def _check(self) -> "Calibration":
        if not rises([score for score, _ in self.points]):
            raise ValueError("expected blended scores that rise from 0 to 100, by 0.001 at least")
        return self


class Scoring(Record):
    """How difficulty was measured: enough to play the panel again."""

    behaviour: Positive
    seed: Seed
    reference: Key
    weights: dict[Key, Positive] | None = None
    """How much each player's pass rate weighs in the score; the reference alone when not given."""
    calibration: Calibration | None = None
    """What is made of the blended score; it is the score when not given."""
    players: dict[Key, dict[str, JsonValue]]
    bands: Annotated[tuple[Band, ...], Field(min_length=1)]

    @property
    def blend(self) -> Mapping[str, int]:
        """The weight of each player that makes the score."""
        return self.weights or {self.reference: 1}

    @property
    def scale(self) -> tuple[tuple[float, float], ...]:
        """The points of the calibration; none when the blended score is the score."""
        return self.calibration.points if self.calibration else ()


class Assembly(Record):
    """What the assembly was asked for."""

    curve: dict[str, JsonValue]
    constraints: dict[str, JsonValue]


class ClientPack(Record):
    """A pack as the game loads it: boards, allowances and difficulty, without solutions and provenance."""

    format: Literal["number-match-pack"]
    format_version: Positive
    pack_version: Positive
    pack_id: Id
    title: Title
    content_hash: Hash
    source_hash: Hash
    """The content_hash of the pack that this file was made from."""
    ruleset: RulesetRecord
    withdrawn: tuple[PuzzleId, ...]
    puzzles: tuple[Puzzle, ...]
    levels: Annotated[tuple[ClientLevel, ...], Field(min_length=1)]


class Pack(Record):
    """An ordered set of Levels, released as one file."""

    format: Literal["number-match-pack"]
    format_version: Positive
    pack_version: Positive
    pack_id: Id
    title: Title
    content_hash: Hash
    ruleset: RulesetRecord
    generator: Generator
    solver: SolverStamp
    scoring: Scoring
    assembly: Assembly
    withdrawn: tuple[PuzzleId, ...]
    """Ids of puzzles that must not come back."""
    puzzles: tuple[Puzzle, ...]
    """In order of first use."""
    levels: Annotated[tuple[Level, ...], Field(min_length=1)]


AnyPack = TypeVar("AnyPack", Pack, ClientPack)

# ------------------------------------------------------------------------------------------------------ hash and seal

UNSEALED = "sha256:" + "0" * 64
"""The content_hash of a pack under construction; `seal` puts the right one."""


def content_hash(document: Mapping[str, Any]) -> str:
    """sha256 of the canonical JSON (RFC 8785) of a pack as a JSON object, without its own `content_hash`."""
    rest = {key: value for key, value in document.items() if key != "content_hash"}
    return "sha256:" + sha256(rfc8785.dumps(rest)).hexdigest()


def document_of(record: Record) -> dict[str, Any]:
    """A record as the JSON object that it was read from or will be written as."""
    return record.model_dump(mode="json", exclude_unset=True)


def seal(pack: AnyPack) -> AnyPack:
    """The same pack with the content_hash that it ought to have."""
    return pack.model_copy(update={"content_hash": content_hash(document_of(pack))})


def client_pack(pack: Pack) -> ClientPack:
    """The pack as the game loads it (only fields that this version knows), sealed."""

    def known(record: Record, kind: type[Record]) -> dict[str, Any]:
        return {name: getattr(record, name) for name in kind.model_fields if name in record.model_fields_set}

    def level_of(level: Level) -> ClientLevel:
        stages = tuple(
            ClientStage(
                **{
                    **known(stage, ClientStage),
                    "difficulty": ClientDifficulty(**known(stage.difficulty, ClientDifficulty)),
                }
            )
            for stage in level.stages
        )
        return ClientLevel(**{**known(level, ClientLevel), "stages": stages})

    fields = known(pack, ClientPack) | {
        "source_hash": pack.content_hash,
        "levels": tuple(level_of(level) for level in pack.levels),
    }
    return seal(ClientPack(**fields))


# ------------------------------------------------------------------------------------------------------------ writing


def pack_text(pack: Pack | ClientPack) -> str:
    """The text of a pack file: one line for every puzzle and every Stage, so that a diff reads."""
    fields = document_of(pack)
    puzzles, levels = fields.pop("puzzles"), fields.pop("levels")
    lines = [f'  "{key}": {_json(value)},' for key, value in fields.items()]
    lines += ['  "puzzles": [', *_rows("    ", map(_json, puzzles)), "  ],"]
    lines += ['  "levels": [', *_rows("    ", map(_level, levels)), "  ]"]
    return "\n".join(["{", *lines, "}", ""])


def _level(level: dict[str, Any]) -> str:
    stages = level.pop("stages")
    opening = _json(level)[:-1] + ', "stages": ['
    return "\n".join([opening, *_rows("      ", map(_json, stages)), "    ]}"])


def _rows(indent: str, texts: Iterable[str]) -> list[str]:
    rows = [indent + text + "," for text in texts]
    if rows:
        rows[-1] = rows[-1][:-1]
    return rows


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# ------------------------------------------------------------------------------------------------------------ reading


class PackError(UserError):
    """A file that cannot be read as a pack; the message names the file, the place and what was expected."""


def read_pack(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Pack:
    """Read a pack of any version ever written.

    Raises:
        PackError: the file is not there, too large, not JSON as packs are, or not of the format.
    """
    pack = read_any(path, max_bytes=max_bytes)
    if isinstance(pack, ClientPack):
        raise PackError(f"{path}: this is a client file, made from {pack.source_hash}; expected the pack itself")
    return pack


def read_any(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Pack | ClientPack:
    """Read a pack or a client file (the one with a `source_hash`); raises PackError as `read_pack` does."""
    return parse_pack(read_bytes(path, max_bytes=max_bytes), str(path))


def parse_pack(data: bytes, name: str) -> Pack | ClientPack:
    """A pack from the bytes of a file; `name` is for messages. Raises PackError."""
    document = parse_document(data, name)
    if document.get("format") != FORMAT:
        raise PackError(f'{name}: format is {shown(document.get("format"))}, expected "{FORMAT}"')
    version = document.get("format_version")
    if type(version) is not int or version < 1:
        raise PackError(f"{name}: format_version is {shown(version)}, expected a whole number from 1 on")
    if version > FORMAT_VERSION:
        raise PackError(
            f"{name}: format_version is {version}, and this program reads versions up to {FORMAT_VERSION}; "
            "a newer number-match-pipeline is needed"
        )
    kind = ClientPack if "source_hash" in document else Pack
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise PackError("\n".join(_complaints(error, name, kind))) from None


def read_bytes(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> bytes:
    """A file's bytes (`-` is stdin), refused before reading when it is larger than allowed. Raises PackError."""
    try:
        with open(sys.stdin.fileno(), "rb", closefd=False) if path == "-" else open(path, "rb") as file:
            state = os.fstat(file.fileno())
            size = state.st_size if stat.S_ISREG(state.st_mode) else 0
            data = file.read(max_bytes + 1) if size <= max_bytes else b""
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        raise PackError(f"{str(path) or repr(path)}: cannot be read: {reason(error)}") from None
    if max(size, len(data)) > max_bytes:
        raise PackError(f"{path}: larger than {max_bytes} bytes, which is the limit")
    return data


def parse_document(data: bytes, name: str) -> dict[str, Any]:
    """The JSON object in these bytes, within the limits that packs keep.

    No key twice, no NaN or infinity, keys that match `[A-Za-z0-9_-]{1,64}`, integers below 2**53, at most four
    decimals, nothing nested too deep. Raises PackError.
    """
    if not data.strip():
        raise PackError(f"{name}: there is nothing in it; expected a JSON object")
    values = sum(map(data.count, (b",", b"[", b"{")))
    if values > MAX_VALUES:
        raise PackError(f"{name}: more than {MAX_VALUES} values")
    try:
        document = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except UnicodeDecodeError as error:
        raise PackError(f"{name}: byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise PackError(f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise PackError(f"{name}: nested deeper than {MAX_DEPTH}") from None
    except _NotAllowed as error:
        raise PackError(f"{name}: {error}") from None
    if _depth_above(document, MAX_DEPTH):
        raise PackError(f"{name}: nested deeper than {MAX_DEPTH}")
    if not isinstance(document, dict):
        raise PackError(f"{name}: expected a JSON object")
    return document


class _NotAllowed(Exception):
    """JSON, but not as packs are."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _NotAllowed(f"the key {shown(twice)} stands twice in one object")
    for key in found:
        if not _KEY.fullmatch(key):
            raise _NotAllowed(f"the key {shown(key)} is not 1 to 64 letters, digits, hyphens and underscores")
    return found


_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def _no_constant(text: str) -> NoReturn:
    raise _NotAllowed(f"{text} is not a number")


def _float(text: str) -> float:
    number = float(text)
    if abs(number) == float("inf"):
        raise _NotAllowed(f"{text[:40]} is too large")
    if round(number, 4) != number:
        raise _NotAllowed(f"{text[:40]} has more than four decimals")
    return number


def _int(text: str) -> int:
    if len(text) > 17 or abs(int(text)) > SAFE_INTEGER:
        raise _NotAllowed(f"{text[:40]} is too large: integers stay below 2^53")
    return int(text)


def _depth_above(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [inner for outer in level for inner in _inside(outer)]
    return any(isinstance(inner, list | dict) for inner in level)


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _complaints(error: ValidationError, name: str, kind: type[Record]) -> Iterator[str]:
    """A line for each thing that is not of the format: where, what was found, what was expected."""
    found = complaints(error, kind)
    yield from (f"{name}: {complaint.text}" for complaint in found)
    if len(found) == MOST < error.error_count():
        yield f"{name}: and {error.error_count() - MOST} more"


# ------------------------------------------------------------------------------------------------------------- schema


def schema_text(model: type[BaseModel]) -> str:
    """The JSON Schema (draft 2020-12) of a format, as it is printed and kept in the repository."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
