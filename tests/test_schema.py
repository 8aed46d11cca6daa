"""The JSON Schemas in the repository are those of the models."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from breaking import NARROW, VEYRA, load
from conftest import DATA, Command
from number_match import models
from number_match.config import Config
from number_match.models import Pack, schema_text

SCHEMAS = Path(models.__file__).parent / "schema"
CONFIGS = Path(__file__).parent.parent / "configs"


@pytest.mark.parametrize(("name", "model"), [("pack", Pack), ("config", Config)])
def test_a_kept_schema_is_current(command: Command, name: str, model: type[Pack | Config]) -> None:
    kept = (SCHEMAS / f"{name}.schema.json").read_text("utf-8")
    assert kept == schema_text(model), "make it anew with `make schema`"
    assert kept == command("schema", name).out


def test_golden_packs_and_configs_are_of_their_schemas() -> None:
    packs = jsonschema.Draft202012Validator(schema("pack"))
    configs = jsonschema.Draft202012Validator(schema("config"))
    for path in (VEYRA, NARROW):
        packs.validate(load(path))
        configs.validate(tomllib.loads(path.with_name(path.name.replace(".pack.json", ".toml")).read_text("utf-8")))
    for path in CONFIGS.glob("*.toml"):
        configs.validate(tomllib.loads(path.read_text("utf-8")))
    packs.validate(load(DATA / "example.pack.json"))
    assert not packs.is_valid(load(VEYRA) | {"pack_version": "3"})
    assert not packs.is_valid(load(VEYRA) | {"withdrawn": ["../p"]})
    assert not configs.is_valid({"generate": {"candidates": -1, "families": []}})


def schema(name: str) -> dict[str, object]:
    """A kept schema."""
    found: dict[str, object] = json.loads((SCHEMAS / f"{name}.schema.json").read_bytes())
    return found
