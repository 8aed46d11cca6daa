"""What a designer asks about a solved board beyond its bounds: how narrow the way is, and by which links it goes.

Each figure is exact, or None where the budget did not decide some position that it rests on.
"""

from __future__ import annotations

from dataclasses import dataclass

from number_match.rules import ADD, LINKS, Board, legal_actions, parse_pair
from number_match.solve import SolveResult, solve


@dataclass(frozen=True, slots=True)
class Structure:
    """Of a board that is cleared with min Adds.

    `openings` counts the opening pairs, `good_openings` those after which min Adds still clears; `forced` counts the
    points of the solution at which a single action keeps it clearable with the Adds that are left of min Adds; `links`
    counts the pairs of the solution by link, a pair joined by several counting as the first of row, column, diagonal,
    wrap.
    """

    needs_early_add: bool | None
    openings: int
    good_openings: int | None
    forced: int | None
    links: dict[str, int]

    @property
    def share_of_good_openings(self) -> float | None:
        return None if self.good_openings is None or not self.openings else self.good_openings / self.openings


def structure(result: SolveResult, *, node_budget: int = 20_000, memory_mib: int = 256) -> Structure | None:
    """The structure of a solved board; None unless its min Adds is decided.

    Args:
        node_budget: for every position that is solved on the way; a solution of 20 actions asks for some two hundred.
    """
    if result.solution is None or result.min_adds.upper != result.min_adds.lower:
        return None

    def keeps(board: Board) -> bool | None:
        verdict = solve(board, node_budget=node_budget, memory_mib=memory_mib, verdict_only=True).verdict
        return None if verdict == "undecided" else verdict == "clearable"

    board = result.board.with_adds(result.min_adds.lower)
    openings = board.pairs()
    good = [keeps(board.play(f"{i}-{j}")) for i, j in openings]
    forced: int | None = 0
    links = dict.fromkeys(LINKS, 0)
    for action in result.solution:
        if action != ADD:
            links[board.links(*parse_pair(action))[0]] += 1
        if forced is not None:
            others = [keeps(board.play(other)) for other in legal_actions(board) if other != action]
            # one other way is enough to tell that this point is not forced
            forced = forced + (not any(others)) if any(others) or None not in others else None
        board = board.play(action)
    return Structure(
        needs_early_add=result.needs_early_add,
        openings=len(openings),
        good_openings=None if None in good else sum(map(bool, good)),
        forced=forced,
        links=links,
    )
