"""The players in plain Python on `rules.py`: the slow twin that the compiled playouts are held to, action by action.

A playout within a given allowance is played directly, without branches: the compiled playouts get all allowances from
one.
"""

from __future__ import annotations

from dataclasses import replace

from number_match.players import LINK_ORDER, Integers, exponential, notice_index
from number_match.rules import ADD, Board, reduced_word

MASK = 2**64 - 1
MAX_SQUARES = 256


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


def play_noticing(board: Board, player: Integers, key: int, allowance: int) -> tuple[Board, list[str]]:
    """The last board and the actions of one playout of a noticing player."""
    draws = Draws(key)
    board = replace(board, adds=allowance)
    actions: list[str] = []
    near: set[int] = set()
    adds_off = False
    while not board.cleared:
        choice = _choose(board, player, near, draws, adds_off)
        if choice == ADD and not board.adds and not adds_off:
            adds_off = True  # the player reaches for an Add and finds that there is none
        elif choice == ADD:
            if len(board.cells) + board.active > MAX_SQUARES:
                break
            near = set(range(len(board.cells), len(board.cells) + board.active))
            board = board.play(ADD)
            actions.append(ADD)
        elif choice:
            i, j = map(int, choice.split("-"))
            near = _near_after(board, i, j)
            board = board.play(choice)
            actions.append(choice)
        else:
            break
    return board, actions


def _choose(board: Board, player: Integers, near: set[int], draws: Draws, adds_off: bool) -> str:
    """The next action; empty when the player gives up."""
    found = entries(board)
    seen: list[tuple[int, int, int]] = []  # i, j, index of the chance
    looks = 0
    while not seen:
        if not found or looks == (player.patience if adds_off else player.looks):
            return "" if adds_off else ADD
        looks += 1
        for _, i, j, link in found:
            index = _index(board, i, j, link, near)
            if draws.next() >> 32 < player.notice[index] and (i, j) not in [pair[:2] for pair in seen]:
                seen.append((i, j, index))
    may_add = not adds_off and player.deliberate and len(seen) <= player.deliberate_below
    if may_add and draws.next() >> 32 < player.deliberate:
        return ADD
    if len(seen) > 1 and player.slip and draws.next() >> 32 < player.slip:
        i, j, _ = seen[draws.below(len(seen))]
        return f"{i}-{j}"
    if player.look_ahead == 2:
        seen = sorted(seen, key=lambda pair: -player.notice[pair[2]])[:3]
    if len(seen) == 1:
        return f"{seen[0][0]}-{seen[0][1]}"
    values = [player.salience[index] + _value(board, player, i, j, player.look_ahead) for i, j, index in seen]
    weights = [_weight(max(values) - value) for value in values]
    rest = draws.next() % sum(weights)
    for (i, j, _), weight in zip(seen, weights, strict=True):
        if rest < weight:
            return f"{i}-{j}"
        rest -= weight
    raise AssertionError("the weights sum to more than the rest")


def _index(board: Board, i: int, j: int, link: str, near: set[int]) -> int:
    rows_down = j // board.width - i // board.width
    holes = j - i - 1 if link in ("row", "wrap") else rows_down - 1
    return notice_index(LINK_ORDER.index(link), board.cells[i] != board.cells[j], bool(near & {i, j}), holes)


def _weight(behind: int) -> int:
    table = exponential()
    return table[behind] if behind < len(table) else 0


def _value(board: Board, player: Integers, i: int, j: int, look_ahead: int) -> int:
    """What playing a pair is worth, but for its salience, in 1/64."""
    after = board.play(f"{i}-{j}")
    value = player.rows * len(_emptied(board, i, j))
    if look_ahead == 0:
        return value
    replies = [(i, j, _index(after, i, j, link, set())) for _, i, j, link in entries(after)] if look_ahead == 2 else []
    if replies:
        best = sorted(replies, key=lambda pair: -player.notice[pair[2]])[:3]
        return value + max(_value(after, player, i, j, 1) for i, j, _ in best)
    value += player.opens * len(entries(after))
    if board.ruleset.row and board.ruleset.wrap:
        value -= player.word * len(reduced_word(after))
    return value


def _emptied(board: Board, i: int, j: int) -> list[int]:
    """The numbers of the rows that a pair empties, the last first."""
    width = board.width
    rows = sorted({i // width, j // width}, reverse=True)
    return [
        row
        for row in rows
        if not any(
            board.cells[s] for s in range(row * width, min(row * width + width, len(board.cells))) if s not in (i, j)
        )
    ]


def _near_after(board: Board, i: int, j: int) -> set[int]:
    """The squares within two rows and columns of a pair, as they are numbered after it went. Some may not exist."""
    width = board.width
    near = {
        row * width + column
        for square in (i, j)
        for row in range(max(0, square // width - 2), square // width + 3)
        for column in range(max(0, square % width - 2), min(width, square % width + 3))
    }
    for row in _emptied(board, i, j):
        near = {s if s < row * width else s - width for s in near if s // width != row}
    return near
