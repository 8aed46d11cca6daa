"""Files that are written: bytes come in, and the whole file is there, or none of it. Standard library only."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from secrets import token_hex

from number_match.errors import UserError, reason

DRAFT = ".draft-"
"""How the names of files begin that are still being written; what a killed process leaves of them is rubbish."""


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: to a draft beside it, synced, then renamed.

    Raises:
        OSError: it cannot be written; `filename` is the path, not the draft's.
    """
    draft = path.with_name(DRAFT + token_hex(8))
    try:
        try:
            with open(draft, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
        _sync(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def save(path: Path, data: bytes, source: Path | None = None) -> None:
    """Write a file that a user named, whole or not at all; where there is a link, what it leads to.

    Raises:
        UserError: it cannot be written, is no file, or is the file `source` that the data were made from.
    """
    try:
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise UserError(f"{path}: this is the pack itself; expected another file")
        write_bytes(_place_of(path), data)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {_what(error)}") from None


def _place_of(path: Path) -> Path:
    """Where a file is to be written: what a link leads to.

    Raises:
        OSError: something that is no file is there, such as a folder or a device.
    """
    path = path.resolve() if path.is_symlink() else path
    if path.is_dir():
        raise OSError(errno.EISDIR, "it is a folder")
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no ordinary file")
    return path


def is_full(error: OSError) -> bool:
    """Whether a disk or a quota is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def in_words(error: OSError) -> str:
    """The file, what is wrong, and what to do about it where that is known."""
    return f"{error.filename}: {_what(error)}" if error.filename else _what(error)


def _what(error: OSError) -> str:
    if is_full(error):
        return f"{error.strerror}; make room on that disk"
    if error.errno == errno.EFBIG:
        return f"{error.strerror}; raise the limit on the size of files (ulimit -f)"
    return reason(error)


def _sync(folder: Path) -> None:
    """Have the folder's list of names on the disk, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
