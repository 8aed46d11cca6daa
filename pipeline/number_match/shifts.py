"""Pass rates compared: counts of playouts before and after come in, the ones that differ beyond noise go out.

Two counts are compared by Fisher's exact test, and many of them with Holm's correction (Holm 1979, "A simple
sequentially rejective multiple test procedure"): the chance of any false alarm among them is at most `FAMILY_ALPHA`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

FAMILY_ALPHA = 0.001


@dataclass(frozen=True, slots=True)
class Counts:
    """Playouts that cleared a Stage, before and after."""

    passed: tuple[int, int]
    playouts: tuple[int, int]

    @property
    def rates(self) -> tuple[float, float]:
        """The two pass rates."""
        return self.passed[0] / self.playouts[0], self.passed[1] / self.playouts[1]

    def chance(self) -> float:
        """How likely counts as far apart as these are when nothing changed: the two-sided p of Fisher's exact test."""
        if self.passed[0] * self.playouts[1] == self.passed[1] * self.playouts[0]:
            return 1.0  # equal rates need no test, and no scipy
        from scipy.stats import fisher_exact

        (a, b), (m, n) = self.passed, self.playouts
        return float(fisher_exact([[a, m - a], [b, n - b]]).pvalue)


def beyond_noise(counts: Sequence[Counts]) -> list[tuple[int, float]]:
    """The numbers of those that shifted, with their p, most certain first."""
    ranked = sorted((of.chance(), number) for number, of in enumerate(counts))
    found: list[tuple[int, float]] = []
    for chance, number in ranked:
        if chance > FAMILY_ALPHA / (len(ranked) - len(found)):
            break
        found.append((number, chance))
    return found


def visible(tests: int, playouts: int) -> float:
    """The shift from a pass rate of 50%, in points, that is found with 95% power among so many tests.

    By the normal approximation: (z of the corrected alpha + z of 95%) standard deviations of a difference of two rates.
    """
    normal = NormalDist()
    quantiles = normal.inv_cdf(1 - FAMILY_ALPHA / tests / 2) + normal.inv_cdf(0.95)
    return 100 * quantiles * sqrt(0.5 / playouts)
