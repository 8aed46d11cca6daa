"""What lies beside a pack and is not of it: a run folder comes in, sentences for people go out.

A run that could not be filled leaves the pack of an earlier config where it was, and pages and exports of a pack stay
when a new pack comes. Nothing is told by the age of a file: pages hold the hash of what they show.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from number_match.errors import UserError
from number_match.export import SUFFIXES, contents
from number_match.formats import ExportFormat
from number_match.models import Pack, read_pack
from number_match.store import UNREADABLE, Store

_ENDS = {
    "unfilled": "could not be filled",
    "stopped": "was stopped before its pack was made",
    "running": "is under way, or was killed before its pack was made",
    "partial": "did not go as far as a pack",
}


def earlier(pack: Pack, record: Mapping[str, Any] | None) -> str:
    """A sentence when a pack is not of the config of the last run, by its run.json; else nothing."""
    theirs = (record or {}).get("config_hash")
    if record is None or not isinstance(theirs, str) or theirs == pack.generator.config_hash:
        return ""
    end = _ENDS.get(str(record.get("state")), "made another pack")
    return f"pack.json is an earlier pack: the last run was of another config and {end}"


def notes(folder: Path) -> Iterator[str]:
    """What in a run folder is not of its last run or of its pack, and how to make it anew; nothing without a pack."""
    path = folder / "pack.json"
    try:
        pack = read_pack(path)
    except UserError:
        return
    said = earlier(pack, Store(folder).read_record())
    if said:
        yield said
    file = shlex.quote(str(path))
    pages = {"preview.html": f"number-match preview {file}"}
    pages |= {f"pack{SUFFIXES[form]}": f"number-match export {file} --{form}" for form in ExportFormat}
    for name, command in pages.items():
        if not _shows(folder / name, pack):
            yield f"{name} is not of this pack; {command} makes it anew"


def _shows(path: Path, pack: Pack) -> bool:
    """Whether a page or an export is of this pack, as far as can be told; what is not there shows nothing wrong."""
    if not path.exists():
        return True
    try:
        if path.suffix == ".parquet":
            return pl.read_parquet_metadata(path).get("content_hash", pack.content_hash) == pack.content_hash
        data = path.read_bytes()
        if path.suffix == ".ndjson":  # which holds no hash
            return data == contents(pack, ExportFormat.ndjson)
        return pack.content_hash.encode() in data
    except (*UNREADABLE, OSError, UserError):
        return False
