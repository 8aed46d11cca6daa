"""Packs broken on purpose: a pack and a change come in, a pack with the right hash and wrong contents goes out."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from number_match.models import content_hash

PACKS = Path(__file__).parent / "packs"
VEYRA = PACKS / "veyra.pack.json"
NARROW = PACKS / "narrow.pack.json"

Document = dict[str, Any]
Change = Callable[[Document], object]


def load(path: Path = VEYRA) -> Document:
    """A pack as JSON."""
    document: Document = json.loads(path.read_bytes())
    return document


def changed(document: Document, change: Change) -> Document:
    """A copy with a change, and the hash that then is right."""
    other = copy.deepcopy(document)
    change(other)
    return resealed(other)


def resealed(document: Document) -> Document:
    """The same with the hash that is right."""
    document["content_hash"] = content_hash(document)
    return document


def write(document: Document, path: Path) -> Path:
    """Write a pack, as anybody's JSON library would."""
    path.write_text(json.dumps(document), "utf-8")
    return path


def stage(document: Document, number: int = 0) -> Document:
    """The Stage of that number in the pack, from 0."""
    every = [stage for level in document["levels"] for stage in level["stages"]]
    found: Document = every[number]
    return found


def puzzle(document: Document, number: int = 0) -> Document:
    """The puzzle of that number, from 0."""
    found: Document = document["puzzles"][number]
    return found


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place in a JSON value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))
