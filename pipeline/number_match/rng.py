"""SplitMix64 by position: keys come in, the n-th numbers of their streams come out.

The project's own generator, so that no release of a library can change a pack (DESIGN.md section 4). A stream's key is
made by `identity.stream_key`; its numbers are those of the published SplitMix64 (Steele, Lea and Flood, "Fast
splittable pseudorandom number generators", OOPSLA 2014; the constants are those of https://prng.di.unimi.it/splitmix64.c).
Number n depends on the key and n alone, which lets a whole shard be drawn at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def draw(keys: NDArray[np.uint64], numbers: NDArray[np.uint64] | np.uint64) -> NDArray[np.uint64]:
    """The numbers of the streams: element n (counted from 0) of each key's stream; the two shapes are broadcast."""
    z = keys + (numbers + np.uint64(1)) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


def below(draws: NDArray[np.uint64], limit: int) -> NDArray[np.int64]:
    """Each draw as a whole number from 0 to limit - 1 (limit at most 2**31): its upper 32 bits, scaled.

    No number comes more than limit / 2**32 too often, relatively.
    """
    return ((draws >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32)).astype(np.int64)
