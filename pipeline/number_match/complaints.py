"""What is wrong with a config, a pack or a player, in plain words: pydantic's errors come in, sentences go out.

A sentence names the key, the value, and what was expected there, which is read off the JSON Schema of the model: so
nobody meets the words of a library, and message and schema say the same. For text with a pattern, `matching` has
the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from number_match.words import counted, listed, printable, shown

MOST = 20
"""As many complaints as are listed of one file; whoever has more begins with these."""

Path = tuple[str | int, ...]
Schema = Mapping[str, Any]

_WORDS: dict[str, str] = {}  # what a pattern expects


def matching(regex: str, words: str) -> Any:
    """The constraint of a text that must match, and what it expects in words: `the id of a puzzle`."""
    _WORDS[regex] = words
    return Field(pattern=regex, description=words)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a check of our own found: the key, below the model that checks, its value, and what was expected.

    `also` are other keys, written in the same way, that would have to change instead.
    """

    key: str
    value: object
    expected: str
    also: tuple[str, ...] = ()


def refuse(problems: Iterable[Problem]) -> None:
    """Raise the error that carries these problems, if there are any; for the checks of a model."""
    found = tuple(problems)
    if found:
        raise PydanticCustomError("problems", "{count} problems", {"count": len(found), "problems": found})


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that is wrong, where, and in words."""

    path: Path
    kind: Literal["unknown", "missing", "wrong"]
    text: str
    also: tuple[Path, ...] = ()
    """Other keys that take part."""


def _place(path: Path) -> str:
    """`levels[0].title`."""
    return printable("".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip("."))


def complaints(error: ValidationError, model: type[BaseModel]) -> list[Complaint]:
    """What is wrong, at most `MOST` things, unknown keys first: what was misspelt explains what is missing."""
    schema = _schema(model)
    details = sorted(error.errors(include_url=False), key=lambda detail: detail["type"] != "extra_forbidden")
    # a list none of whose items was right also counts as empty: the items say enough
    inside = {detail["loc"][:length] for detail in details for length in range(len(detail["loc"]))}
    guessed: set[Path] = set()
    found: dict[tuple[Path, str], Complaint] = {}
    for detail in details:
        if detail["loc"] in inside and detail["type"] != "problems":
            continue
        for complaint in _of(detail, schema):
            if complaint.kind == "unknown" and (guess := _guess(complaint.path, schema)):
                guessed.add((*complaint.path[:-1], guess))
            if complaint.kind != "missing" or complaint.path not in guessed:
                found.setdefault((complaint.path, complaint.text), complaint)
        if len(found) >= MOST:
            break
    return list(found.values())[:MOST]


@cache
def _schema(model: type[BaseModel]) -> Schema:
    return model.model_json_schema()


def _of(detail: ErrorDetails, schema: Schema) -> list[Complaint]:
    path, at = _down(detail["loc"], schema)
    match detail["type"]:
        case "problems":
            return [_from_check(path, problem) for problem in detail["ctx"]["problems"]]
        case "extra_forbidden":
            guess = _guess(detail["loc"], schema)
            known = list(_down(detail["loc"][:-1], schema)[1].get("properties", ()))
            hint = f"did you mean {guess}?" if guess else f"known here: {', '.join(known)}"
            return [Complaint(detail["loc"], "unknown", f"{_place(detail['loc'])}: unknown key ({hint})")]
        case "missing":
            return [Complaint(path, "missing", f"{_place(path)}: missing; expected {expected(at, schema)}")]
        case "json_invalid":
            return [Complaint((), "wrong", f"not JSON: {detail['ctx']['error']}")]
        case "value_error":  # a check of a single value, which says what it expected
            wanted = str(detail["ctx"]["error"])
        case _:
            wanted = f"expected {expected(at, schema)}"
    if detail["loc"][-1:] == ("[key]",):  # of a table whose keys are names
        words = _WORDS[detail["ctx"]["pattern"]]
        return [Complaint(path, "wrong", f"{_place(path)} has the key {shown(detail['input'])}: expected {words}")]
    return [Complaint(path, "wrong", f"{_place(path)} is {shown(detail['input'], 80)}: {wanted}")]


def _from_check(path: Path, problem: Problem) -> Complaint:
    whole = (*path, *_parts(problem.key))
    also = tuple((*path, *_parts(key)) for key in problem.also)
    found = ": missing; " if problem.value is None else f" is {shown(problem.value, 80)}: "
    return Complaint(whole, "wrong", f"{_place(whole)}{found}{problem.expected}", also)


def _parts(key: str) -> Path:
    return tuple(int(part) if part.isdigit() else part for part in key.split(".") if part)


def _guess(path: Path, schema: Schema) -> str | None:
    """The known key that an unknown one looks like."""
    known = list(_down(path[:-1], schema)[1].get("properties", ()))
    return next(iter(get_close_matches(str(path[-1]), known, 1)), None)


# ---------------------------------------------------------------------------------------------- what a schema expects


def _down(path: Path, schema: Schema) -> tuple[Path, Schema]:
    """As much of a path as the schema has (pydantic puts the branches of a union behind it), and what stands there."""
    at = _resolved(schema, schema)
    for length, part in enumerate(path):
        inner = _child(at, part, schema)
        if inner is None:
            return path[:length], at
        at = _resolved(inner, schema)
    return path, at


def _child(at: Schema, part: str | int, root: Schema) -> Schema | None:
    for branch in _branches(at, root):
        if isinstance(part, int):
            items: list[Schema] = branch.get("prefixItems", [])
            inner = items[part] if part < len(items) else branch.get("items")
        else:
            named = branch.get("patternProperties", {}).items()
            inner = branch.get("properties", {}).get(part) or next(
                (schema for regex, schema in named if re.search(regex, part)), branch.get("additionalProperties")
            )
        if isinstance(inner, dict):
            return inner
    return None


def _resolved(at: Schema, root: Schema) -> Schema:
    while "$ref" in at:
        at = root["$defs"][at["$ref"].rpartition("/")[2]]
    branches = _branches(at, root)
    return branches[0] if len(branches) == 1 else at


def _branches(at: Schema, root: Schema) -> list[Schema]:
    """The schemas of which one must fit; that something may be absent is not told."""
    if "anyOf" not in at:
        return [at]
    return [_resolved(branch, root) for branch in at["anyOf"] if branch.get("type") != "null"]


def expected(at: Schema, root: Schema | None = None) -> str:
    """What fits a schema, in words: `a whole number from 0 to 20`; `root` has the `$defs` that it refers to."""
    root = root or {}
    branches = _branches(_resolved(at, root), root)
    if len(branches) > 1:
        return listed([expected(branch, root) for branch in branches])
    (one,) = branches
    if "const" in one:
        return shown(one["const"])
    if "enum" in one:
        return listed([shown(value) for value in one["enum"]])
    match one.get("type"):
        case "integer":
            return "a whole number" + _range(one)
        case "number":
            return "a number" + _range(one)
        case "boolean":
            return "true or false"
        case "string":
            return _text(one)
        case "array":
            return _list(one, root)
        case "object":
            return "a table of keys"
    return "a value"


def _range(one: Schema) -> str:
    low, above, high = (one.get(key) for key in ("minimum", "exclusiveMinimum", "maximum"))
    start = "" if low is None else f" from {low:,}" if high is not None else f", at least {low:,}"
    start = start if above is None else f" above {above:,}"
    end = "" if high is None else f" to {high:,}" if low is not None else f" and at most {high:,}"
    return start + end


def _text(one: Schema) -> str:
    if "pattern" in one:
        return _WORDS[one["pattern"]]
    low, high = one.get("minLength", 0), one.get("maxLength")
    if high is None:
        return "text" if not low else "text that is not empty"
    return f"text of at most {counted(high, 'character')}" if not low else f"text of {low} to {high} characters"


def _list(one: Schema, root: Schema) -> str:
    low, high = one.get("minItems", 0), one.get("maxItems")
    inner = [one["items"]] if isinstance(one.get("items"), dict) else one.get("prefixItems", [])
    words = list(dict.fromkeys(expected(item, root) for item in inner))
    each = f", each {words[0]}" if len(words) == 1 and words != ["a value"] else ""
    if low == high:
        return f"a list of {counted(low, 'item')}{each}"
    size = f" of at least {counted(low, 'item')}" if low else ""
    size = f" of at most {counted(high, 'item')}" if high is not None and not low else size
    return f"a list{size or (each and ' of items')}{each}"
