"""Playouts that were lost already: what the solver proves of positions on their way."""

from __future__ import annotations

from fractions import Fraction

import polars as pl

from number_match.config import Sampling
from number_match.identity import puzzle_id, stream_key
from number_match.lost import lost_shares
from number_match.players import Player, default_panel
from number_match.rules import Board, named, perft, replay
from number_match.score import LOST_NODES, SCHEMA, score
from number_match.simulate import trace


def clearable(board: Board) -> bool:
    """By trying everything."""
    if board.cleared:
        return True
    actions = [f"{i}-{j}" for i, j in board.pairs()] + ["+"] * (board.adds > 0)
    return any(clearable(board.play(action)) for action in actions)


def test_shares_are_those_found_by_trying_everything() -> None:
    board, player, playouts = Board.parse("1223/3118/812", named(width=4)), Player(row=0.5, temperature=5), 12
    counted = [0, 0, 0]
    for number in range(playouts):
        key = stream_key(4, "score", puzzle_id(board), "some", "lost", number)
        actions = trace(board, player, key, 0)
        for moment in range(3):
            position = replay(board, actions[: int(len(actions) * Fraction(moment + 1, 4))])
            counted[moment] += not clearable(position)
    found = lost_shares(board, player, name="some", allowance=0, seed=4, playouts=playouts)
    assert list(found.lost) == counted
    assert found.lost[0] is not None
    assert counted[2] > 0
    assert found.shares == tuple(count / playouts for count in counted)
    assert perft(board, 1)[0] > 1


def test_an_undecided_position_makes_the_share_unknown() -> None:
    board = Board.parse("518145871/636527126/958716539/27158326")
    found = lost_shares(
        board, default_panel()["newcomer"], name="newcomer", allowance=1, seed=1, playouts=6, node_budget=1
    )
    assert None in found.lost
    assert found.playouts == 6


def test_the_score_stage_follows_a_few_playouts_of_every_allowance() -> None:
    board, player = Board.parse("316372222/5516"), default_panel()["casual"]
    boards = pl.DataFrame({"puzzle": [puzzle_id(board)], "board": [board.text]})

    def scored(lost: int) -> list[list[int | None]]:
        table = score(boards, named(), (0, 2), "casual", player, "report", Sampling(playouts=20), seed=1, lost=lost)
        assert table.schema == SCHEMA
        found: list[list[int | None]] = table["lost"].to_list()[0]
        return found

    assert scored(0) == []
    for allowance, shares in enumerate(scored(8)):
        wanted = lost_shares(
            board, player, name="casual", allowance=allowance, seed=1, playouts=8, node_budget=LOST_NODES
        )
        assert shares == [None if lost is None else lost * 1000 // 8 for lost in wanted.lost]
