"""Every field of the pack format, mutated: `data/pack_fields.tsv` says of each whether a wrong value must be found.

derived   it follows from the rest: every other value is found, the hash recomputed
bounded   values out of bounds are found
free      a name, or where the pack comes from: any value is fine
"""

import copy
import csv
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from breaking import NARROW, VEYRA, Document, load, resealed, stage
from conftest import DATA, MUTATIONS
from number_match.models import Pack, PackError, parse_pack
from number_match.rules import ADD, Board, IllegalAction, NotationError, replay
from number_match.verify_full import again
from number_match.verify_quick import quick

with (DATA / "pack_fields.tsv").open(encoding="utf-8") as _file:
    ROWS = list(csv.DictReader(_file, delimiter="\t"))
PACKS = {"veyra": load(VEYRA), "narrow": load(NARROW)}
Path = tuple[str | int, ...]


def rows(kind: str, level: str) -> list[str]:
    """The fields of a kind whose wrong values are found at a level."""
    return [row["field"] for row in ROWS if (row["kind"], row["level"]) == (kind, level)]


def places(value: Any, field: str) -> Iterator[Path]:
    """Every place in a pack that a field of the table names."""
    match = re.match(r"(\[\]|\{\}|\.?[a-z_]+)", field)
    if match is None:
        yield ()
        return
    step, rest = match[0], field[match.end() :]
    if step == "[]":
        keys: Any = range(len(value))
    elif step == "{}":
        keys = list(value)
    else:
        keys = [step.lstrip(".")] if isinstance(value, dict) and step.lstrip(".") in value else []
    for key in keys:
        for path in places(value[key], rest):
            yield (key, *path)


def at(document: Any, path: Path) -> Any:
    """The value at a place."""
    for key in path:
        document = document[key]
    return document


def put(document: Document, path: Path, value: Any) -> Document:
    """A copy of a pack with another value at a place, and the right hash unless that is what was changed."""
    other = copy.deepcopy(document)
    at(other, path[:-1])[path[-1]] = value
    return other if path == ("content_hash",) else resealed(other)


def another(value: Any, path: Path) -> st.SearchStrategy[Any]:
    """Other values that the format allows at a place."""
    if isinstance(value, bool):
        return st.just(not value)
    if isinstance(value, int):
        return st.integers(0, 2 * value + 20).filter(lambda other: other != value)
    if isinstance(value, float):
        numbers = st.integers(0, 100_000).map(lambda thousandths: thousandths / 1000)
        return numbers.filter(lambda other: abs(other - value) > 0.0006)
    text = str(value)
    if text.startswith("sha256:"):
        return st.integers(0, 2**256 - 1).map(lambda number: f"sha256:{number:064x}")
    if text.startswith("p-"):
        return st.one_of(
            st.integers(0, 2**80 - 1).map(lambda number: f"p-{number:020x}"),
            st.sampled_from([one["id"] for pack in PACKS.values() for one in pack["puzzles"]]),
        ).filter(lambda other: other != text)
    if "board" in path:
        return st.tuples(st.integers(0, len(text) - 1), st.sampled_from("123456789./")).map(
            lambda edit: text[: edit[0]] + edit[1] + text[edit[0] + 1 :]
        ).filter(lambda other: other != text)  # fmt: skip
    if "solution" in path:
        pairs = st.tuples(st.integers(0, 30), st.integers(1, 30)).filter(lambda pair: pair[0] < pair[1])
        actions = st.one_of(st.just(ADD), pairs.map(lambda pair: f"{pair[0]}-{pair[1]}"))
        return actions.filter(lambda other: other != text)
    return st.from_regex(r"\A[A-Za-z0-9-]{1,20}\Z").filter(lambda other: other != text)


def found_by(document: Document, level: str, only: str | None = None) -> bool:
    """Whether a check of this level finds anything; `only` is the Stage that the full level looks at."""
    return checked(json.dumps(document).encode(), level, only)


def checked(data: bytes, level: str, only: str | None = None) -> bool:
    """The same of a pack's bytes; a refusal to read them counts, when it says of what."""
    try:
        pack = parse_pack(data, "x")
    except PackError as error:
        return str(error).startswith("x:")
    assert isinstance(pack, Pack)
    if list(quick(pack, "x")):
        return True
    findings = again(pack, "x", stages=None if only is None else {only})[0] if level == "full" else []
    return any(not finding.note for finding in findings)


def still_a_solution(document: Document, path: Path) -> bool:
    """Whether the changed solution happens to be another right one, with as many Adds and pairs."""
    one = at(document, path[:4])
    board = next(x["board"] for x in document["puzzles"] if x["id"] == one["puzzle"])
    rules = parse_pack(json.dumps(document).encode(), "x").ruleset.rules()
    try:
        end = replay(Board.parse(board, rules).with_adds(one["adds"]), one["solution"])
    except (IllegalAction, NotationError):
        return False
    before = at(PACKS["veyra" if document["pack_id"] == "golden-veyra" else "narrow"], path[:4])["solution"]
    return end.cleared and one["solution"].count(ADD) == before.count(ADD)


# ---------------------------------------------------------------------------------------------------------- the table


def _fields(schema: Document, node: Document, path: str = "") -> Iterator[str]:
    """Every leaf field that a JSON Schema names."""
    if "$ref" in node:
        yield from _fields(schema, schema["$defs"][node["$ref"].rpartition("/")[2]], path)
    elif "anyOf" in node:
        for branch in node["anyOf"]:
            if branch.get("type") != "null":
                yield from _fields(schema, branch, path)
    elif "properties" in node:
        for name, inner in node["properties"].items():
            yield from _fields(schema, inner, f"{path}.{name}".lstrip("."))
    elif node.get("type") == "array":
        yield from _fields(schema, node.get("items", {}), f"{path}[]")
    elif node.get("type") == "object":
        inner = node.get("additionalProperties") or next(iter(node.get("patternProperties", {}).values()), {})
        yield from _fields(schema, inner if isinstance(inner, dict) else {}, f"{path}{{}}")
    else:
        yield path


def test_the_table_lists_every_field_of_the_format() -> None:
    schema = Pack.model_json_schema()
    assert sorted({row["field"] for row in ROWS}) == sorted(set(_fields(schema, schema)))
    assert {row["kind"] for row in ROWS} == {"derived", "bounded", "free"}


def test_the_golden_packs_have_every_field_of_the_table() -> None:
    for row in ROWS:
        field = row["field"].removesuffix("[]")  # nothing need be withdrawn
        assert any(list(places(pack, field)) for pack in PACKS.values()), field


# ---------------------------------------------------------------------------------------------------------- mutations

QUICKLY = settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck), database=None)
SLOWLY = settings(QUICKLY, max_examples=6)


def draw(data: st.DataObject, field: str) -> tuple[Document, Path, Document]:
    """A golden pack, a place of that field in it, and the pack with another value there."""
    options = [pack for pack in PACKS.values() if list(places(pack, field))]
    document = data.draw(st.sampled_from(options), label="pack")
    path = data.draw(st.sampled_from(list(places(document, field))), label="place")
    value = at(document, path)
    other = put(document, path, data.draw(another(value, path), label="value"))
    return document, path, other


@pytest.mark.parametrize("field", rows("derived", "quick"))
@QUICKLY
@given(data=st.data())
def test_any_other_value_of_what_is_derived_is_found(field: str, data: st.DataObject) -> None:
    _, path, other = draw(data, field)
    assume("solution" not in path or not still_a_solution(other, path))
    found = found_by(other, "quick")
    MUTATIONS["derived, quick level", found] += 1
    assert found, path


@pytest.mark.parametrize("field", [field for field in rows("derived", "full") if "players{}{}" not in field])
@SLOWLY
@given(data=st.data())
def test_any_other_value_of_what_only_solving_or_playing_tells_is_found(field: str, data: st.DataObject) -> None:
    document, path, other = draw(data, field)
    only = None
    if path[0] == "levels":
        only = at(document, path[:4])["id"]
    elif path[0] == "puzzles":
        only = stage(document, int(path[1]))["id"]
    found = found_by(other, "full", only)
    MUTATIONS["derived, full level", found] += 1
    assert found, path


@pytest.mark.parametrize("parameter", ["row", "column", "diagonal", "temperature", "slip", "looks"])
def test_a_parameter_of_a_player_that_changes_how_it_plays_is_found(parameter: str) -> None:
    value = PACKS["veyra"]["scoring"]["players"]["casual"][parameter]
    other = put(PACKS["veyra"], ("scoring", "players", "casual", parameter), value * 3 if value > 1 else value / 2)
    found = found_by(other, "full", "L002-S03")
    MUTATIONS["derived, full level", found] += 1
    assert found


@pytest.mark.parametrize("field", rows("free", "-"))
@QUICKLY
@given(data=st.data())
def test_any_value_of_what_is_free_is_fine(field: str, data: st.DataObject) -> None:
    document, path, _ = draw(data, field)
    value = at(document, path)
    if isinstance(value, int):
        value = data.draw(st.integers(1, 2**53 - 1))
    elif not str(value).startswith("sha256:") and path[-1] in ("title", "name", "version"):
        value = data.draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=100))
    else:
        value = data.draw(another(value, path))
    found = found_by(put(document, path, value), "quick")
    MUTATIONS["free", not found] += 1
    assert not found, path


OUT_OF_BOUNDS: list[tuple[str, Path, Any]] = [
    ("format", ("format",), "number-match-packs"),
    ("format_version", ("format_version",), 2),
    ("ruleset.id", ("ruleset", "id"), "width-7"),
    ("scoring.reference", ("scoring", "reference"), "nobody"),
    ("scoring.calibration.points[][]", ("scoring", "calibration", "points", 1, 1), 35.0),
    ("scoring.calibration.points[][]", ("scoring", "calibration", "points", 1, 0), 60.0),
    ("scoring.bands[].name", ("scoring", "bands", 0, "name"), "normal"),
    ("scoring.bands[].name", ("scoring", "bands", 0, "name"), "gentle"),
    ("scoring.bands[].from", ("scoring", "bands", 0, "from"), 1.0),
    ("scoring.bands[].from", ("scoring", "bands", 1, "from"), 99.0),
    ("assembly.curve{}", ("assembly", "curve", "start"), 12.0),
    ("assembly.curve{}", ("assembly", "curve", "kind"), "linear"),
    ("assembly.curve{}", ("assembly", "curve", "kind"), "spiral"),
    ("assembly.constraints{}", ("assembly", "constraints", "slack"), 3),
    ("withdrawn[]", ("withdrawn",), [PACKS["veyra"]["puzzles"][0]["id"]]),
    ("withdrawn[]", ("withdrawn",), ["p-" + "a" * 20] * 2),
]


@pytest.mark.parametrize(("field", "path", "value"), OUT_OF_BOUNDS)
def test_what_is_out_of_bounds_is_found(field: str, path: Path, value: Any) -> None:
    pack = PACKS["narrow" if "calibration" in path else "veyra"]
    found = found_by(put(pack, path, value), "quick")
    MUTATIONS["bounded", found] += 1
    assert found


def test_every_bounded_field_was_taken_out_of_bounds() -> None:
    assert {field for field, _, _ in OUT_OF_BOUNDS} == set(rows("bounded", "quick"))


# ------------------------------------------------------------------------------------------------------ hostile bytes


@settings(QUICKLY, max_examples=300)
@given(data=st.data())
def test_a_pack_with_any_bytes_exchanged_is_refused_or_checked_but_never_crashes(data: st.DataObject) -> None:
    text = VEYRA.read_bytes()
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 30)))
    broken = text[:start] + data.draw(st.binary(max_size=30)) + text[stop:]
    assume(broken != text)
    found = checked(broken, "quick")
    same = not found and json.loads(broken) == json.loads(text)  # white space only
    MUTATIONS["bytes", found or same] += 1
    assert found or same


@settings(QUICKLY, max_examples=200)
@given(data=st.data())
def test_a_pack_with_a_value_of_any_kind_anywhere_is_refused_or_checked_but_never_crashes(data: st.DataObject) -> None:
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    keys = st.text(max_size=9)
    values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner))
    document = copy.deepcopy(PACKS["narrow"])
    path: list[Any] = []
    inner: Any = document
    while isinstance(inner, dict | list) and inner and (not path or data.draw(st.booleans() | st.just(True))):
        path.append(data.draw(st.sampled_from(list(inner) if isinstance(inner, dict) else range(len(inner)))))
        inner = inner[path[-1]]
    at(document, tuple(path[:-1]))[path[-1]] = data.draw(values)
    found_by(document, "quick")
