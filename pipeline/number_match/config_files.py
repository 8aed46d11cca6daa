"""Config files: TOML files and `--set` come in, one checked `Config` comes out.

Files are laid over one another from left to right, `--set a.b=v` over all of them. Every complaint is a `UserError`
that names the file or the argument, the key, the value and what was expected. `run.json` of an earlier run is a config
file too.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from number_match.complaints import MOST, Complaint, complaints
from number_match.config import Config, leaves, put, with_tuples
from number_match.errors import UserError, reason
from number_match.words import counted, shortened

_PATH_KEYS = re.compile(r"generate\.families\.\d+\.file|assemble\.(append|keep|exclude\.\d+)")

KeyPath: TypeAlias = tuple[str, ...]


def load(files: Sequence[Path], settings: Sequence[str] = (), run: Mapping[str, Any] | None = None) -> Config:
    """The config of these files, laid over one another, with the settings `a.b=v` over them.

    Names of files in a config are relative to the folder that it lies in. `run` is what the command line's own options
    say of `[run]`.

    Raises:
        UserError: everything that is wrong, a line each: where, and what was expected.
    """
    values: dict[str, Any] = {}
    sources: dict[KeyPath, str] = {}
    as_text: dict[KeyPath, str] = {}
    refused: list[str] = []
    for file in files:
        try:
            given = _read(file)
        except UserError as error:
            refused.append(str(error))
            continue
        for path, leaf in leaves(given):
            if isinstance(leaf, str) and _PATH_KEYS.fullmatch(".".join(path)):
                put(given, list(path), str((file.parent / leaf).absolute()))
        _lay_over(values, given)
        sources |= {path: str(file) for path, _ in leaves(given)}
    for setting in settings:
        argument = f"--set {shortened(setting, 80)}"
        key, equals, text = setting.partition("=")
        path = tuple(key.strip().split("."))
        try:
            if not equals or not all(path):
                raise UserError(f"{argument}: expected KEY=VALUE, such as assemble.stages=12")
            value = _toml_value(text)
            _set(values, path, value, argument)
        except UserError as error:
            refused.append(str(error))
            continue
        sources |= {(*path, *inner): argument for inner, _ in leaves(value)}
        as_text[path] = text
    if refused:
        raise UserError("\n".join(refused))
    for key, value in (run or {}).items():
        _set(values, ("run", key), value, f"--{key}")
        sources["run", key] = f"--{key}"
    return _checked(values, sources, as_text, files)


def _checked(
    values: dict[str, Any], sources: Mapping[KeyPath, str], as_text: dict[KeyPath, str], files: Sequence[Path]
) -> Config:
    try:
        return Config.model_validate(with_tuples(values))
    except ValidationError as error:
        for detail in error.errors():
            path = tuple(map(str, detail["loc"]))
            if detail["type"] == "string_type" and path in as_text:  # `--set pack.title=12` means the text
                _set(values, path, as_text.pop(path), "")
                return _checked(values, sources, as_text, files)
        standing = {path for path, _ in leaves(values)}  # what a later file or setting replaced is no source
        sources = {path: source for path, source in sources.items() if path in standing}
        everywhere = " and ".join(map(str, files)) or "config"
        found = complaints(error, Config)
        lines = [f"{_blamed(complaint, sources) or everywhere}: {complaint.text}" for complaint in found]
        raise UserError("\n".join([*lines, *([f"{everywhere}: and more"] if len(found) == MOST else [])])) from None


def _blamed(complaint: Complaint, sources: Mapping[KeyPath, str]) -> str:
    """Where the value at fault was given: the arguments that had a part in it, or else the files."""
    paths = [tuple(map(str, path)) for path in (complaint.path, *complaint.also)]
    given = [source for path in paths for source in _given(path, sources)]
    arguments = [source for source in given if source.startswith("--")]
    if not given:  # a key that nobody gave: the files that gave something beside it
        given = [source for path in paths for source in _beside(path, sources)]
    return " and ".join(dict.fromkeys(arguments or given))


def _given(path: KeyPath, sources: Mapping[KeyPath, str]) -> list[str]:
    """Where a key was given, or what is in it, or what it is in."""
    return [source for known, source in sources.items() if known[: len(path)] == path[: len(known)]]


def _beside(path: KeyPath, sources: Mapping[KeyPath, str]) -> list[str]:
    """Where something beside a key was given, as near to it as can be; in files rather than in arguments."""
    for length in range(len(path) - 1, 0, -1):
        found = [source for known, source in sources.items() if known[:length] == path[:length]]
        if found:
            return [source for source in found if not source.startswith("--")] or found
    return []


def _read(file: Path) -> dict[str, Any]:
    """The tables of one file, TOML or the `config` of a run.json."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {reason(error)}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: expected text in UTF-8, byte {error.start} is not") from None
    if file.suffix == ".json":
        return _recorded(text, file)
    try:
        return tomllib.loads(text)
    except ValueError as error:  # tomllib's own, or a number of thousands of digits
        raise UserError(f"{file}: expected TOML: {error}") from None
    except RecursionError:
        raise UserError(f"{file}: expected TOML: nested too deeply") from None


def _recorded(text: str, file: Path) -> dict[str, Any]:
    """The config in a run.json."""
    try:
        record = json.loads(text)
    except ValueError as error:
        raise UserError(f"{file}: expected the run.json of a run: {error}") from None
    except RecursionError:
        raise UserError(f"{file}: expected the run.json of a run: nested too deeply") from None
    if not isinstance(record, dict) or not isinstance(record.get("config"), dict):
        raise UserError(f"{file}: expected the run.json of a run, with its config in it")
    return dict(record["config"])


def _toml_value(text: str) -> Any:
    """A value as TOML writes it; what is not TOML is text, so that quotes can be left out."""
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return table["value"] if list(table) == ["value"] else text


def _lay_over(under: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Tables are merged, everything else is replaced."""
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(under.get(key), dict):
            _lay_over(under[key], value)
        else:
            under[key] = value


def _set(values: Any, path: tuple[str, ...], value: Any, argument: str) -> None:
    """Set a value at a path, making tables on the way; a number picks an element of a list."""
    for position, part in enumerate(path):
        if isinstance(values, list):
            if not (part.isascii() and part.isdigit()) or int(part) >= len(values):
                at, last = ".".join(path[:position]), len(values) - 1
                expected = (
                    f"expected a number from 0 to {last}" if last > 0 else "expected 0" if values else "it has none"
                )
                raise UserError(
                    f"{argument}: {at} is a list of {counted(len(values), 'item')}; {expected}, not {part!r}"
                )
        elif not isinstance(values, dict):
            raise UserError(f"{argument}: {'.'.join(path[:position])} is a value, not a section")
        if position == len(path) - 1:
            put(values, [part], value)
        else:
            values = values[int(part)] if isinstance(values, list) else values.setdefault(part, {})
