"""Difficulty from playout counts: counts come in, scores and bands go out. Arithmetic on whole numbers, standard
library only.

Counts are normative in a pack; the program that makes a pack and the one that verifies it both take the score from
here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

THOUSAND = 1000
"""Scores are kept in thousandths of a point."""
HARDEST = 100 * THOUSAND


Whole = TypeVar("Whole", int, "NDArray[np.int64]")


def failed(passed: Whole, playouts: Whole) -> Whole:
    """100 × (1 - passed / playouts) in thousandths of a point, rounded half up."""
    return (2 * HARDEST * (playouts - passed) + playouts) // (2 * playouts)


def blended(scores: Sequence[Whole], weights: Sequence[int]) -> Whole:
    """The weighted mean of players' scores, rounded half up."""
    total = sum(weights)
    summed = scores[0] * weights[0]
    for score, weight in zip(scores[1:], weights[1:], strict=True):
        summed = summed + score * weight
    return (2 * summed + total) // (2 * total)


def score(counts: Mapping[str, tuple[Sequence[int], int]], adds: int, blend: Mapping[str, int]) -> int:
    """The difficulty of a Stage in thousandths of a point.

    Args:
        counts: for each player, passed[a] for every allowance a, and the number of playouts.
        adds: the allowance of the Stage.
        blend: the weight of each player that counts.
    """
    each = [failed(counts[name][0][adds], counts[name][1]) for name in blend]
    return blended(each, list(blend.values()))


def band(value: int, bands: Iterable[tuple[str, float]]) -> str:
    """The name of the last band that begins at or below a score in thousandths; bands are (name, from) by rising
    `from`."""
    names = [name for name, start in bands if round(start * THOUSAND) <= value]
    return names[-1]
