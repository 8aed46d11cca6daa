"""When playouts are lost: a board and a player come in, the shares of playouts that could no longer be cleared go out.

A board that is lost early and played on for long is hard in another way than one that is lost by the last pairs: the
counts of `simulate.py` cannot tell the two apart, the solver can. It costs a search for every position, so a small
sample is played.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from number_match.identity import puzzle_id, stream_key
from number_match.players import Player
from number_match.rules import Board, replay
from number_match.simulate import trace
from number_match.solve import BoardTooLarge, solve

MOMENTS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
"""How far a playout has come, as a share of its actions."""


@dataclass(frozen=True, slots=True)
class LostShares:
    """Of `playouts` playouts, how many were lost already after a quarter, half and three quarters of their actions.

    A playout is lost when the solver proves that its board cannot be cleared any more with the Adds left. None: the
    solver did not decide some of them.
    """

    playouts: int
    lost: tuple[int | None, int | None, int | None]

    @property
    def shares(self) -> tuple[float | None, ...]:
        """The same as shares of the playouts."""
        return tuple(None if lost is None else lost / self.playouts for lost in self.lost)


def lost_shares(
    board: Board,
    player: Player,
    *,
    name: str,
    allowance: int,
    seed: int,
    playouts: int = 24,
    node_budget: int = 20_000,
    memory_mib: int = 64,
) -> LostShares:
    """Play a few playouts within an allowance, on the stream `lost`, and solve what is left at each moment.

    Raises:
        UserError: as `simulate.simulate`.
    """
    puzzle = puzzle_id(board)
    begun = board.with_adds(allowance)
    counts: list[int | None] = [0, 0, 0]
    for number in range(playouts):
        actions = trace(board, player, stream_key(seed, "score", puzzle, name, "lost", number), allowance)
        if replay(begun, actions).cleared:
            continue
        lost: bool | None = False
        for moment, share in enumerate(MOMENTS):
            if lost is not True:  # what is lost stays lost
                position = replay(begun, actions[: int(len(actions) * share)])
                lost = _is_lost(position, node_budget, memory_mib)
            so_far = counts[moment]
            counts[moment] = None if lost is None or so_far is None else so_far + lost
    return LostShares(playouts, (counts[0], counts[1], counts[2]))


def _is_lost(position: Board, node_budget: int, memory_mib: int) -> bool | None:
    try:
        verdict = solve(position, node_budget=node_budget, memory_mib=memory_mib, verdict_only=True).verdict
    except BoardTooLarge:
        return None
    return None if verdict == "undecided" else verdict == "unclearable"
