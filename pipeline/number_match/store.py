"""The run folder: tables come in and go out by the request that makes them. No other file reads or writes there.

    run.json            resolved config, versions, hashes, counters, times
    candidates/ validation/ scores/     shards, LABEL-KEY.parquet
    pack.json pack.client.json          the release
    reports/            tables for people

A shard is addressed by the hash of its request (DESIGN.md section 4), which holds everything that decides its rows.
What lies in a folder under other requests is cache and never read. Each shard carries its request, the number of its
rows, the sha256 of its rows as text and that of its bytes, so that damage is found when it is read, and before polars
sees it, which some damaged files make end the process. Files appear by sync and rename, whole or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import rfc8785
from filelock import FileLock, Timeout

from number_match.errors import UserError, reason
from number_match.files import DRAFT, is_full, write_bytes

FOLDERS = ("candidates", "validation", "scores")
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""How polars fails on damaged files."""
_RECORD = "number-match"  # the key of our record in a parquet footer
_BEGINNING, _BLANK = b'{"bytes": "', b"0" * 64
"""How the record begins, with the sha256 of the file's bytes; and what stands there while that is reckoned."""


@dataclass(frozen=True)
class Request:
    """What decides the rows of one shard.

    `label` says for people, and for finding what an earlier config put in the same place, which part of the work it is;
    `what` is a JSON object shaped like the config, so that two requests can be compared key by key.
    """

    folder: str
    label: str
    what: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        """sha256 of the canonical JSON of `what`, in hex."""
        return sha256(rfc8785.dumps(dict(self.what))).hexdigest()

    @property
    def name(self) -> str:
        """The shard's file, relative to the run folder."""
        return f"{self.folder}/{self.label}-{self.key[:20]}.parquet"


class DamagedShard(Exception):
    """A shard whose file cannot be read or does not hold what was written; `path` is its place in the run folder."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class Store:
    """One run folder. Opening it makes nothing; `prepare` makes the folders and `lock` keeps other runs out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    # -- folder and lock

    def prepare(self, folders: Sequence[str] = (*FOLDERS, "reports")) -> None:
        """Make the folders that a run has, or these.

        Raises:
            UserError: they cannot be made or written.
            OSError: the disk is full.
        """
        try:
            os.fsencode(self.folder)
            for name in folders:
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            if not os.access(self.folder, os.W_OK):
                frozen = os.statvfs(self.folder).f_flag & os.ST_RDONLY
                code = errno.EROFS if frozen else errno.EACCES
                raise OSError(code, os.strerror(code))
        except OSError as error:
            if is_full(error):
                raise
            raise UserError(f"run.out: the output folder {self.folder} cannot be written: {error.strerror}") from None
        except UnicodeEncodeError:
            raise UserError(
                f"run.out: {self.folder}: expected an environment that has such names (LC_ALL=C.UTF-8)"
            ) from None

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Keep the folder to this run, and clear away what a killed one left half-written.

        The lock belongs to the process: it is gone with it, however it ended, so that none is ever stale.

        Raises:
            UserError: another run has the folder; the message names its process.
            OSError: the disk is full.
        """
        owner = self.folder / ".owner"
        lock = FileLock(self.folder / ".lock", thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            who = owner.read_text() if owner.exists() else "another process"
            raise UserError(
                f"{self.folder} is in use by {who}; wait for that run to end, or choose another folder with -o"
            ) from None
        except OSError as error:
            if is_full(error):
                raise
            raise UserError(f"run.out: {self.folder} cannot be locked: {error.strerror}") from None
        try:
            self._clear()
            write_bytes(owner, f"process {os.getpid()} on {socket.gethostname()}".encode())
            yield
        finally:
            with contextlib.suppress(OSError):
                self._clear()
                owner.unlink(missing_ok=True)
            lock.release()

    def _clear(self) -> None:
        """Remove what was left half-written, by a killed run or by workers that were told to stop."""
        for draft in self.folder.glob(f"**/{DRAFT}*"):
            draft.unlink(missing_ok=True)

    # -- shards

    def holds(self, request: Request) -> bool:
        """Whether the shard is there, by its footer.

        Raises:
            DamagedShard: a file is there and has no readable footer, or the footer of another request.
        """
        path = self.folder / request.name
        if not path.exists():
            return False
        record = self._footer(request.name)
        if record["request"] != _plain(request.what):
            raise DamagedShard(request.name, "it is filed under another request")
        return True

    def rows(self, request: Request) -> int:
        """The number of rows of a shard that is there, by its footer."""
        return int(self._footer(request.name)["rows"])

    def _footer(self, name: str) -> dict[str, Any]:
        """The record of a shard, by its footer alone."""
        try:
            with open(self.folder / name, "rb") as file:
                size = file.seek(0, io.SEEK_END)
                file.seek(max(size - 8, 0))
                length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
                if magic != b"PAR1" or length + 8 > size:
                    raise ValueError
                file.seek(size - 8 - length)
                return _record(file.read(length))
        except OSError as error:
            raise DamagedShard(name, reason(error)) from None
        except ValueError:
            raise DamagedShard(name, "no readable footer") from None

    def write(self, request: Request, table: pl.DataFrame) -> None:
        """Write a shard: to a draft, synced, then renamed."""
        facts = {"request": _plain(request.what), "rows": table.height, "sha256": rows_hash(table)}
        buffer = io.BytesIO()
        table.write_parquet(buffer, metadata={_RECORD: json.dumps({"bytes": _BLANK.decode()} | facts)})
        data = buffer.getvalue()
        write_bytes(self.folder / request.name, _with_digest(data, sha256(data).hexdigest().encode()))

    def read(self, request: Request, schema: pl.Schema) -> pl.DataFrame:
        """The rows of a shard.

        Raises:
            DamagedShard: they are not the ones that were written.
        """
        name = request.name
        record = self._footer(name)
        try:
            data = (self.folder / name).read_bytes()
            if sha256(_with_digest(data, _BLANK)).hexdigest() != record["bytes"]:
                raise DamagedShard(name, "its bytes are not the ones that were written")
            table = pl.read_parquet(data)
        except OSError as error:
            raise DamagedShard(name, reason(error)) from None
        except UNREADABLE:
            raise DamagedShard(name, "its rows cannot be read") from None
        if table.schema != schema:
            raise DamagedShard(name, "its columns are not the expected ones")
        if table.height != record["rows"] or rows_hash(table) != record["sha256"]:
            raise DamagedShard(name, "its rows are not the ones that were written")
        return table

    def discard(self, name: str) -> None:
        """Remove a damaged shard, so that it is made again."""
        (self.folder / name).unlink(missing_ok=True)

    def shards(self, folder: str, label: str = "") -> list[str]:
        """The shards of a folder whose label begins so, by name, whatever request made them."""
        return sorted(
            f"{folder}/{path.name}" for path in (self.folder / folder).glob(f"{label}*.parquet") if path.name[0] != "."
        )

    def request_of(self, name: str) -> dict[str, Any] | None:
        """The request that a shard carries; None when it is damaged."""
        try:
            return dict(self._footer(name)["request"])
        except DamagedShard:
            return None

    # -- other files

    def path(self, name: str) -> Path:
        """Where a file of the run lies."""
        return self.folder / name

    def write_text(self, name: str, text: str) -> None:
        """Write a text file whole or not at all."""
        self.write_bytes(name, text.encode())

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all."""
        write_bytes(self.folder / name, data)

    def write_table(self, name: str, table: pl.DataFrame) -> None:
        """Write a parquet file whole or not at all."""
        buffer = io.BytesIO()
        table.write_parquet(buffer)
        self.write_bytes(name, buffer.getvalue())

    def write_report(self, name: str, table: pl.DataFrame) -> None:
        """Write reports/NAME.parquet."""
        self.write_table(f"reports/{name}.parquet", table)

    def read_report(self, name: str) -> pl.DataFrame | None:
        """reports/NAME.parquet, when it is there, readable, and what run.json says was written, if it says so."""
        file = f"reports/{name}.parquet"
        outputs = (self.read_record() or {}).get("outputs")
        found = self.file_hash(file)
        if found is None or (isinstance(outputs, dict) and outputs.get(file, found) != found):
            return None
        try:
            return pl.read_parquet(self.folder / file)
        except (*UNREADABLE, OSError):
            return None

    def read_record(self, name: str = "run.json") -> dict[str, Any] | None:
        """run.json of the last run, or another such record, when there is a readable one."""
        try:
            record = json.loads((self.folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def file_hash(self, name: str) -> str | None:
        """sha256 of a file's bytes in hex; None when it is not there."""
        try:
            return sha256((self.folder / name).read_bytes()).hexdigest()
        except OSError:
            return None


def _record(footer: bytes) -> dict[str, Any]:
    """Our record in a parquet footer, where it stands as plain text.

    Raises:
        ValueError: there is none.
    """
    text = footer[footer.rindex(_BEGINNING) :].decode("latin-1")
    record, _ = json.JSONDecoder().raw_decode(text)
    if set(record) != {"bytes", "request", "rows", "sha256"} or not isinstance(record["request"], dict):
        raise ValueError
    return dict(record)


def _with_digest(data: bytes, digest: bytes) -> bytes:
    """A shard's bytes with this digest in its record."""
    start = data.rindex(_BEGINNING) + len(_BEGINNING)
    return data[:start] + digest + data[start + len(digest) :]


def rows_hash(table: pl.DataFrame) -> str:
    """sha256 of the rows as lines of JSON, in their order."""
    return sha256(table.write_ndjson().encode()).hexdigest()


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Where two requests differ, one line a key: `[score].players.casual.temperature 0.8 → 0.6`."""
    found: list[str] = []
    _compare(old, new, (), found)
    return found


def _compare(old: Any, new: Any, path: tuple[str, ...], found: list[str]) -> None:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            _compare(old.get(key), new.get(key), (*path, key), found)
    elif old != new:
        key = ".".join((f"[{path[0]}]", *path[1:])) if len(path) > 1 else path[0]
        found.append(f"{key} {_short(old)} → {_short(new)}")


def _short(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


def _plain(value: Any) -> Any:
    """A JSON value as it comes back from a file."""
    return json.loads(json.dumps(value))
