"""Names that follow from content: boards come in; puzzle ids, canonical ids and the keys of random streams come out.

A puzzle id never changes meaning (DESIGN.md section 5), and a random stream is found by what it is for, never by a
counter of the process that draws it (section 4).
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

from number_match.rules import Board, canonical_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def puzzle_id(board: Board) -> str:
    """`p-` and 20 hex digits of sha256 over the settings of the ruleset and the board, without Adds."""
    return "p-" + _digest("puzzle/1", board, board.text)[:20]


def canonical_id(board: Board) -> str:
    """`sha256:…`, equal for boards that differ only by renaming classes or by swapping digits within a class."""
    return "sha256:" + _digest("canonical/1", board, canonical_text(board))


def _digest(kind: str, board: Board, text: str) -> str:
    return sha256(f"{kind}\n{board.ruleset.settings}\n{text}".encode()).hexdigest()


def stream_key(seed: int, stage: str, puzzle: str, player: str, stream: str, playout: int) -> int:
    """The 64-bit key of one random stream: the first 8 bytes (big-endian) of blake2b over the six parts joined by
    `|`."""
    text = f"{seed}|{stage}|{puzzle}|{player}|{stream}|{playout}"
    return int.from_bytes(blake2b(text.encode()).digest()[:8], "big")


def stream_keys(
    seed: int, stage: str, puzzle: str, player: str, stream: str, playouts: Iterable[int]
) -> NDArray[np.uint64]:
    """`stream_key` of many playouts: uint64, one a playout."""
    import numpy as np

    begun = blake2b(f"{seed}|{stage}|{puzzle}|{player}|{stream}|".encode())
    digests = []
    for playout in playouts:
        whole = begun.copy()
        whole.update(b"%d" % playout)
        digests.append(whole.digest()[:8])
    return np.frombuffer(b"".join(digests), dtype=">u8").astype(np.uint64)
