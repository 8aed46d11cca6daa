"""Difficulty from playout counts: counts come in, scores and bands go out. Arithmetic on whole numbers, standard
library only.

Counts are normative in a pack; the program that makes a pack and the one that verifies it both take the score from
here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

THOUSAND = 1000
"""Scores are kept in thousandths of a point."""
HARDEST = 100 * THOUSAND


Points = Sequence[tuple[float, float]]
"""A calibration: what blended scores become, by rising score; straight lines lie between."""
Whole = TypeVar("Whole", int, "NDArray[np.int64]")


def failed(passed: Whole, playouts: Whole) -> Whole:
    """100 × (1 - passed / playouts) in thousandths of a point, rounded half up."""
    return (2 * HARDEST * (playouts - passed) + playouts) // (2 * playouts)


def blended(scores: Sequence[Whole], weights: Sequence[int], points: Points = ()) -> Whole:
    """The weighted mean of players' scores, rounded half up, and then `calibrated`."""
    total = sum(weights)
    summed = scores[0] * weights[0]
    for score, weight in zip(scores[1:], weights[1:], strict=True):
        summed = summed + score * weight
    return calibrated((2 * summed + total) // (2 * total), points)


def calibrated(score: Whole, points: Points) -> Whole:
    """What a score in thousandths becomes by a calibration: straight lines between its points, rounded half up."""
    knots = [(round(at * THOUSAND), round(value * THOUSAND)) for at, value in points]
    if not knots:
        return score
    result = score * 0 + knots[0][1]
    for (start, low), (end, high) in pairwise(knots):
        length = end - start
        inside = (score - start) * (score > start)
        inside = inside - (inside - length) * (inside > length)
        result = result + (2 * (high - low) * inside + length) // (2 * length)
    return result


def rises(scores: Sequence[float]) -> bool:
    """Whether the scores of a calibration's points rise from 0 to 100, by a thousandth at least."""
    thousandths = [round(score * THOUSAND) for score in scores]
    return (scores[0], scores[-1]) == (0, 100) and all(a < b for a, b in pairwise(thousandths))


def score(
    counts: Mapping[str, tuple[Sequence[int], int]], adds: int, blend: Mapping[str, int], points: Points = ()
) -> int:
    """The difficulty of a Stage in thousandths of a point.

    Args:
        counts: for each player, passed[a] for every allowance a, and the number of playouts.
        adds: the allowance of the Stage.
        blend: the weight of each player that counts.
        points: the calibration, if there is one.
    """
    each = [failed(counts[name][0][adds], counts[name][1]) for name in blend]
    return blended(each, list(blend.values()), points)


def band(value: int, bands: Iterable[tuple[str, float]]) -> str:
    """The name of the last band that begins at or below a score in thousandths; bands are (name, from) by rising
    `from`."""
    names = [name for name, start in bands if round(start * THOUSAND) <= value]
    return names[-1]
