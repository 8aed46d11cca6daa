"""Whatever is wrong with a config or a pack is said in plain words: no library's phrase shows through."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from breaking import places
from number_match.config import Config, with_tuples
from number_match.config_files import load
from number_match.errors import UserError
from number_match.models import ClientPack, Pack, client_pack, document_of, pack_text, parse_pack, read_pack
from number_match.players import Player
from number_match.verify_full import again
from number_match.verify_quick import quick

DATA = Path(__file__).parent / "data"
CONFIG: dict[str, Any] = {
    "pack": {"id": "x", "title": "X", "version": 1},
    "rules": {"ruleset": "veyra-1", "adds": [1, 5]},
    "generate": {
        "candidates": 40,
        "families": [
            {"name": "a", "cells": [6, 9], "digits": [1] * 9, "parity": "any", "equal_pairs": 0.5, "share": 1},
            {"name": "b", "file": "boards.txt"},
        ],
    },
    "validate": {"node_budget": 1000, "memory_mib": 64},
    "score": {
        "reference": "random",
        "panel": ["random", "casual"],
        "players": {"casual": {"row": 0.5, "look_ahead": 1}},
        "weights": {"random": 1},
        "calibration": {"kind": "logistic", "points": [[0, 1], [100, 99.5]]},
        "screen": {"playouts": 10, "most": 20, "half_width": 2.5},
        "bands": [{"name": "easy", "from": 0}],
    },
    "assemble": {
        "levels": 2,
        "stages": 3,
        "curve": {"kind": "points", "points": [{"stage": 1, "target": 10}], "values": [1.5], "unit": "score"},
        "adds": [1, 2],
        "families": ["a"],
        "tolerance": 5,
        "constraints": {"slack": 1, "floor": 1, "floor_player": "random", "near_duplicates": {"distance": 0.5}},
        "level": [{"level": 1, "id": "L1", "title": "t", "adds": 2, "curve": {"start": 1}, "early_add": "never"}],
        "topup": {"candidates": 5, "budget": 5},
        "pin": {"L001-S01": "1234"},
        "ban": ["p-00000000000000000000"],
        "exclude": ["packs/*.json"],
        "append": "old.json",
    },
    "run": {"out": "x", "workers": 1, "engine": "local", "scheduler": "tcp://x:1", "shard_size": 5},
}
WRONG: list[Any] = [
    None,
    True,
    "",
    "x y",
    "x" * 3000,
    -1,
    0,
    0.12345,
    1e15,
    float("nan"),
    2**60,
    [],
    [[]],
    ["x"] * 3000,
    {},
    {"x y": 1},
]
PHRASES = (
    "Input should",
    "should be",
    "should have",
    "should match",
    "valid ",
    "Value error",
    "Field required",
    "required",
    "Extra inputs",
    "after validation",
    "Tuple",
    "String",
    "Dictionary",
    "pydantic",
    "Error",
    "()",
    "None",
    "\n\n",
)

TOLD = ("expected", "did you mean", "known here", ": and ", "is too large", "more than four decimals")
"""One of these is in every complaint: what was expected, or what is too much."""


def spoiled(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The document with one thing wrong, in every way."""
    for *parents, last in places(document):
        for value in (*WRONG, ...):
            made = deepcopy(document)
            inner: Any = made
            for part in parents:
                inner = inner[part]
            if value is ...:
                del inner[last]
            else:
                inner[last] = value
            if isinstance(inner, dict) and value is None:
                inner["unheard-of"] = 1
            yield made


def plain(message: str, name: str) -> int:
    """Check a message, and return in how many lines it is."""
    lines = message.splitlines()
    for line in lines:
        assert line.startswith(f"{name}: "), line
        for phrase in PHRASES:
            assert phrase not in line, line
        assert len(line) < 400, line
        assert any(word in line for word in TOLD), line
    return len(lines)


def test_whatever_is_wrong_in_a_config_is_said_in_plain_words(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    said = 0
    for document in spoiled(CONFIG):
        path.write_text(json.dumps({"config": document}), encoding="utf-8")
        try:
            load([path])
        except UserError as error:
            said += plain(str(error), str(path))
    assert said > 1000


def test_whatever_is_wrong_in_a_pack_is_said_in_plain_words() -> None:
    pack = read_pack(DATA / "example.pack.json")
    said = 0
    for whole in (pack, client_pack(pack)):
        document = json.loads(pack_text(whole))
        for made in spoiled(document):
            try:
                parse_pack(json.dumps(made).encode(), "x.json")
            except UserError as error:
                if "NaN" not in str(error) and "stands twice" not in str(error) and "is not 1 to 64" not in str(error):
                    said += plain(str(error), "x.json")
    assert said > 1000


@pytest.mark.parametrize("model", [Config, Pack, ClientPack, Player])
def test_every_pattern_has_its_words(model: Any) -> None:
    from number_match.complaints import _WORDS

    text = json.dumps(model.model_json_schema())
    found = {value for place in _patterns(json.loads(text)) for value in place}
    assert found <= _WORDS.keys()


def _patterns(schema: Any) -> Iterator[list[str]]:
    if isinstance(schema, dict):
        yield [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
        yield list(schema.get("patternProperties", ()))
        for inner in schema.values():
            yield from _patterns(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _patterns(inner)


def test_findings_about_blocks_of_a_pack_that_this_version_does_not_read_are_in_plain_words() -> None:
    document = document_of(read_pack(DATA / "example.pack.json"))
    document["assembly"] = {"curve": {"kind": "zigzag"}, "constraints": {}, "levels": 1, "stages": 1}
    document["scoring"]["players"]["casual"]["row"] = 7
    pack = Pack.model_validate(with_tuples(document))
    found = [*quick(pack, "x"), *again(pack, "x", stages=())[0]]
    (assembly,) = (finding for finding in found if finding.rule == "assembly")
    (player,) = (finding for finding in found if finding.rule == "panel" and "row" in finding.found)
    assert assembly.found.startswith('curve.kind is "zigzag": expected "linear", "sawtooth"')
    assert player.found == "casual.row is 7: expected a number from 0 to 1"
