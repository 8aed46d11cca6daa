"""The assignment with its couplings as one integer program, for HiGHS: slots and choices come in, places go out.

One variable for each (slot, puzzle) among the nearest few of every slot. Each slot takes one; each puzzle stands at
most once; of so many slots in a row not all have one family; of two near-duplicates at most one stands in any window.

It is better than `repair` where couplings bind hard, and slower. Its answer is the best among the choices it is given,
when the node limit lets it finish, and the same for the same version of HiGHS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from number_match.assemble import Chooser, Place, Pool, Slot, class_rows, near_pairs
from number_match.config import AssembleConfig, Constraints
from number_match.difficulty import HARDEST

_CHOICES = 24  # of a slot, and as many again for each family that it may have


def solve_coupled(wanted: Sequence[Slot], chooser: Chooser, limit: int, settings: AssembleConfig) -> list[Place] | None:
    """A place for every slot, with all couplings kept; None when none was found within the node limit."""
    choices = [(number, place) for number, slot in enumerate(wanted) for place in _choices(slot, chooser, limit)]
    costs = np.array([0 if wanted[number].puzzle else place.distance**2 for number, place in choices], dtype=np.float64)
    rows = list(_rules(wanted, choices, chooser.pool, settings.constraints))
    lines = np.repeat(np.arange(len(rows)), [len(members) for members, _, _ in rows])
    members = np.concatenate([members for members, _, _ in rows])
    matrix = coo_array((np.ones(len(lines)), (lines, members)), shape=(len(rows), len(choices)))
    result = milp(
        costs / max(1.0, costs.max()),
        integrality=np.ones(len(choices)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix.tocsr(), [low for _, low, _ in rows], [high for _, _, high in rows]),
        options={"node_limit": settings.node_limit, "mip_rel_gap": 0},
    )
    if result.x is None:
        return None
    found = {number: place for (number, place), taken in zip(choices, result.x, strict=True) if taken > 0.5}
    return [found[number] for number in range(len(wanted))]


def _choices(slot: Slot, chooser: Chooser, limit: int) -> list[Place]:
    """The nearest few puzzles of a slot, and the nearest few of each family."""
    kinds: list[frozenset[str] | None] = [slot.families]
    if slot.puzzle is None:
        kinds += [frozenset({name}) for name in sorted(slot.families or chooser.pool.all_families)]
    found: dict[int, Place] = {}
    for families in kinds:
        options = chooser.nearest(slot.only(families), _CHOICES, limit if slot.puzzle is None else HARDEST)
        for row, adds, distance in zip(options.rows, options.adds, options.distances, strict=True):
            found[int(row)] = Place(int(row), int(adds), int(distance))
    return [found[row] for row in sorted(found)]


def _rules(
    wanted: Sequence[Slot], choices: Sequence[tuple[int, Place]], pool: Pool, rules: Constraints
) -> Iterator[tuple[list[int], int, int]]:
    """Each rule as (variables, least, most) of how many of them are taken."""
    by_slot: list[list[int]] = [[] for _ in wanted]
    by_row: dict[int, list[int]] = {}
    for variable, (number, place) in enumerate(choices):
        by_slot[number].append(variable)
        by_row.setdefault(place.row, []).append(variable)
    for members in by_slot:
        yield members, 1, 1
    for members in by_row.values():
        yield members, 0, 1
    if rules.family_in_row:
        for start in range(len(wanted) - rules.family_in_row):
            here = [v for members in by_slot[start : start + rules.family_in_row + 1] for v in members]
            for family in {str(pool.families[choices[v][1].row]) for v in here}:
                yield [v for v in here if pool.families[choices[v][1].row] == family], 0, rules.family_in_row
    if rules.near_duplicates and rules.near_duplicates.distance > 0:
        window, used = rules.near_duplicates.window, sorted(by_row)
        words = class_rows(pool.boards[row] for row in used)
        for first, second in near_pairs(words, rules.near_duplicates.distance):
            both = by_row[used[first]] + by_row[used[second]]
            for start in sorted({choices[v][0] for v in both}):
                members = [v for v in both if start <= choices[v][0] <= start + window]
                if len(members) > 1:
                    yield members, 0, 1
