"""The players in plain Python on `rules.py`: the slow twin that the compiled playouts are held to, action by action.

A playout within a given allowance is played directly, without branches: the compiled playouts get all allowances from one.
"""

from __future__ import annotations

from dataclasses import replace

from number_match.rules import ADD, Board

MASK = 2**64 - 1
MAX_SQUARES = 512


class Draws:
    """SplitMix64 from a key, as published: https://prng.di.unimi.it/splitmix64.c"""

    def __init__(self, key: int) -> None:
        self.state = key

    def next(self) -> int:
        self.state = self.state + 0x9E3779B97F4A7C15 & MASK
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    def below(self, n: int) -> int:
        return (self.next() >> 32) * n >> 32


def line_of(board: Board, i: int, j: int, link: str) -> int:
    """The line a link runs on: 0 reading order, 1 column, 2 and 3 the diagonals to the right and left."""
    if link == "diagonal":
        return 2 if j % board.width > i % board.width else 3
    return 1 if link == "column" else 0


def entries(board: Board) -> list[tuple[int, int, int, str]]:
    """Every link of every pair: (line, i, j, link), in the order that the players meet them."""
    return sorted((line_of(board, i, j, link), i, j, link) for i, j in board.pairs() for link in board.links(i, j))


def play_random(board: Board, key: int, allowance: int) -> tuple[Board, list[str]]:
    """The last board and the actions of one uniform playout."""
    draws = Draws(key)
    board = replace(board, adds=allowance)
    actions: list[str] = []
    while not board.cleared:
        found = entries(board)
        if found:
            in_reading_order = {(i, j) for line, i, j, _ in found if line == 0}
            line, i, j, _ = found[draws.below(len(found))]
            while line > 0 and (i, j) in in_reading_order:
                line, i, j, _ = found[draws.below(len(found))]
            action = f"{i}-{j}"
        elif board.adds and len(board.cells) + board.active <= MAX_SQUARES:
            action = ADD
        else:
            break
        board = board.play(action)
        actions.append(action)
    return board, actions
