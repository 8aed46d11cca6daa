"""The one model of a simulated player: parameters come in, the integers that it plays by go out.

A player looks at the board, sees some of the pairs, chooses one of them, and looks again; when it sees none often
enough, it Adds. A weak player overlooks pairs and so Adds too early; a strong one sees most and thinks ahead. Each
part of the model follows a published finding:

- noticing: people overlook what a heuristic would value; dropping features at random is what made a model of
  four-in-a-row predict people's moves (van Opheusden et al. 2023, doi:10.1038/s41586-023-06124-2);
- near the last action: people's search stays close to the previous move, and a "shutter" that keeps a model there makes
  it more like them, whatever its strategy (Amir et al. 2022, doi:10.1371/journal.pcbi.1010358);
- choosing by softmax over a noisy value: error as noise on the evaluation of moves (Isaksen 2017);
- looking ahead 0, 1 or 2 actions: depth grows with expertise (van Opheusden et al. 2023), and weaker look-ahead, not
  an optimal player with noise, is what tells levels apart (Kristensen, Valdivia and Burelli 2020, arXiv:2306.14626).

No study was found of which pairs people notice first in Number Match. That a row is easier than a column, a column
than a diagonal, a diagonal than a wrap, equal digits easier than a sum of 10, near easier than far: all that, and
every default below, is a hypothesis until it is fitted to telemetry (`number-match calibrate`). Nothing here claims
anything about people.

Two players of the same parameters play alike on every machine: all that is chosen by is made of whole numbers here,
with `decimal`, and the playouts draw and compare integers (DESIGN.md section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from functools import cache, lru_cache
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

PLACES = 4
"""The decimals that a parameter may have, as every number in a pack."""
UNIT = 64
"""Values are whole numbers of 1/64."""
FULL = 2**32
"""A chance is a whole number of 2**-32."""
FARTHEST = 32
"""Pairs with this many holes between them, or more, are noticed like pairs with one fewer."""
LINK_ORDER = ("row", "column", "diagonal", "wrap")


def _few_decimals(number: float) -> float:
    if round(number, PLACES) != number:
        raise ValueError(f"expected at most {PLACES} decimals")
    return number


Chance = Annotated[float, Field(ge=0, le=1), AfterValidator(_few_decimals)]
Weight = Annotated[float, Field(ge=-1000, le=1000), AfterValidator(_few_decimals)]


class Player(BaseModel):
    """The parameters of one player. What a config leaves out keeps the value given here."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    kind: Literal["noticing", "random"] = "noticing"
    """`random` takes any open pair, all alike, and Adds when there is none: the reference, which reads nothing
    below.
    """

    # Noticing: the chance that one look sees two equal digits side by side, by the link that joins them …
    row: Chance = 0.9
    column: Chance = 0.8
    diagonal: Chance = 0.65
    wrap: Chance = 0.5
    # … and what is left of that chance
    hole_fade: Chance = 0.9
    """for every hole between the two,"""
    row_fade: Chance = 0.95
    """for every row that the second is below the first,"""
    sum_fade: Chance = 0.85
    """and when the digits sum to 10 instead of being equal."""
    near_gain: Chance = 0.3
    """The share of what is missing from the chance that is gained within two rows and columns of the last action
    (after an
    Add: among the new cells)."""

    # Choosing: a pair's value is the sum of these weights times …
    salience: Weight = 2.0
    """… the chance that it is seen,"""
    rows: Weight = 0.5
    """… the number of rows that it empties,"""
    opens: Weight = 0.3
    """… the number of links that join open pairs afterwards (only when looking ahead),"""
    word: Weight = 0.3
    """… the number of cells by which the reduced word gets shorter (only when looking ahead, and where row and wrap
    links are on).
    """
    look_ahead: Annotated[int, Field(ge=0, le=2)] = 0
    """Actions looked ahead. With 2, only the 3 pairs that are seen most easily count, at either action."""
    temperature: Annotated[float, Field(ge=0.01, le=1000), AfterValidator(_few_decimals)] = 1.0
    """The higher, the less the value matters: a pair is chosen with a chance proportional to exp(value /
    temperature).
    """
    slip: Chance = 0.0
    """The chance to take any pair that was seen, whatever its value."""

    # Adding
    looks: Annotated[int, Field(ge=1, le=1000)] = 2
    """Looks that see nothing, one after the other, before the player Adds."""
    deliberate: Chance = 0.0
    """The chance to Add although pairs were seen, …"""
    deliberate_below: Annotated[int, Field(ge=0, le=1000)] = 1
    """… when no more than this many were."""
    patience: Annotated[int, Field(ge=1, le=10_000)] = 60
    """Looks that see nothing, one after the other, before the player gives up with no Add left."""


def default_panel() -> dict[str, Player]:
    """The players of a config that names none, from weak to strong, and the uniform reference."""
    return dict(_panel())


@cache
def _panel() -> tuple[tuple[str, Player], ...]:
    newcomer = Player(
        row=0.6, column=0.45, diagonal=0.25, wrap=0.15, hole_fade=0.8, row_fade=0.85, sum_fade=0.7,
        temperature=2.0, slip=0.1, looks=1, patience=8,
    )  # fmt: skip
    casual = Player(
        row=0.75, column=0.6, diagonal=0.4, wrap=0.3, hole_fade=0.85, row_fade=0.9, sum_fade=0.8,
        temperature=1.5, slip=0.05, looks=2, patience=25,
    )  # fmt: skip
    regular = Player(
        row=0.85, column=0.75, diagonal=0.6, wrap=0.5, hole_fade=0.9, row_fade=0.95, sum_fade=0.9,
        look_ahead=1, salience=2.0, opens=0.2, word=0.2, temperature=1.5, slip=0.03, looks=3, patience=40,
    )  # fmt: skip
    skilled = Player(
        row=0.9, column=0.85, diagonal=0.75, wrap=0.65, hole_fade=0.95, row_fade=0.97, sum_fade=0.95,
        look_ahead=1, salience=1.0, opens=0.3, word=0.3, temperature=1.0, slip=0.01, looks=4,
    )  # fmt: skip
    expert = Player(
        row=0.97, column=0.95, diagonal=0.9, wrap=0.85, hole_fade=0.98, row_fade=0.99, sum_fade=0.98,
        look_ahead=1, salience=0.2, opens=0.3, word=0.6, temperature=0.5, looks=6,
    )  # fmt: skip
    return (
        ("newcomer", newcomer),
        ("casual", casual),
        ("regular", regular),
        ("skilled", skilled),
        ("expert", expert),
        ("random", Player(kind="random")),
    )


# ------------------------------------------------------------------------------------------------------------ integers


@dataclass(frozen=True, slots=True)
class Integers:
    """A noticing player in whole numbers."""

    notice: tuple[int, ...]
    """512 chances of 2**-32 that one look sees a pair, at `notice_index`."""
    salience: tuple[int, ...]
    """What that adds to the value of the pair, at the same place, in 1/64."""
    opens: int
    """What one more open link adds to a value, in 1/64; likewise an emptied row and a cell less in the reduced word."""
    rows: int
    word: int
    look_ahead: int
    looks: int
    deliberate: int
    """a chance of 2**-32; likewise the slip"""
    slip: int
    deliberate_below: int
    patience: int


def notice_index(link: int, sums: bool, near: bool, holes: int) -> int:
    """Where `Integers.notice` tells of a pair: the number of its link in LINK_ORDER, whether it sums to 10, is near,
    and its holes.
    """
    return ((link * 2 + sums) * 2 + near) * FARTHEST + min(holes, FARTHEST - 1)


@lru_cache(maxsize=64)
def integers(player: Player) -> Integers:
    """The whole numbers that a noticing player plays by."""
    with localcontext(Context(prec=50, rounding=ROUND_HALF_EVEN)):
        p = {name: Decimal(repr(value)) for name, value in player if isinstance(value, float)}
        notice, salience = [], []
        for link in LINK_ORDER:
            for sums in (False, True):
                for near in (False, True):
                    for holes in range(FARTHEST):
                        rows_down = {"row": 0, "wrap": 1}.get(link, holes + 1)
                        chance = p[link] * _power(p["hole_fade"], holes) * _power(p["row_fade"], rows_down)
                        chance *= p["sum_fade"] if sums else 1
                        chance += (1 - chance) * p["near_gain"] if near else 0
                        notice.append(_round(chance * FULL))
                        salience.append(_round(UNIT * p["salience"] * chance / p["temperature"]))
        return Integers(
            notice=tuple(notice),
            salience=tuple(salience),
            opens=_round(UNIT * p["opens"] / p["temperature"]),
            rows=_round(UNIT * p["rows"] / p["temperature"]),
            word=_round(UNIT * p["word"] / p["temperature"]),
            look_ahead=player.look_ahead,
            looks=player.looks,
            deliberate=_round(p["deliberate"] * FULL),
            slip=_round(p["slip"] * FULL),
            deliberate_below=player.deliberate_below,
            patience=player.patience,
        )


@cache
def exponential() -> tuple[int, ...]:
    """2**32 exp(-d / 64) for d = 0, 1, … while it rounds to at least 1, and at most 2**32 - 1: the weight of a choice
    by its value.
    """
    with localcontext(Context(prec=50, rounding=ROUND_HALF_EVEN)):
        weights = [FULL - 1]
        while weight := _round(FULL * (-Decimal(len(weights)) / UNIT).exp()):
            weights.append(min(weight, FULL - 1))
    return tuple(weights)


def _power(base: Decimal, times: int) -> Decimal:
    return base**times if times else Decimal(1)


def _round(number: Decimal) -> int:
    return int(number.to_integral_value())
