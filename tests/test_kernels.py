"""The compiled rules against the plain ones: golden data, and random positions of random games under every ruleset."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from golden import EVERY_LINK_SETTING, Perft, Position, perft_rows, position_rows, random_board, random_game
from number_match.kernels import adds, bits, board, search, words
from number_match.kernels.bits import U
from number_match.kernels.memory import pointer
from number_match.perft import count
from number_match.rules import Board, class_of, legal_actions, named


def compiled_pairs(position: Board) -> list[tuple[int, int]]:
    found = np.zeros(4 * max(len(position.cells), 1), np.int64)
    cells = np.array(position.cells, np.uint8)
    number = board.pairs(cells, cells.size, position.width, position.ruleset.link_bits, found)
    return [(key >> 16, key & 0xFFFF) for key in found[:number].tolist()]


@pytest.mark.parametrize("row", list(perft_rows()), ids=lambda row: f"{row.id}@{row.depth}")
def test_compiled_perft_agrees_with_the_golden_counts(row: Perft) -> None:
    assert count(row.board, row.depth) == (row.sequences, row.checksum)


def test_perft_is_the_sum_over_the_first_actions() -> None:
    """On a long board, whose memo is small and always overwritten."""
    start = Board.parse("518145871/636527126/958716539/27158326 +2")
    parts = [count(start.play(action), 3) for action in legal_actions(start)]
    assert count(start, 4) == (sum(part[0] for part in parts), sum(part[1] for part in parts) % 2**64)


@pytest.mark.parametrize(
    "row",
    [row for row in position_rows() if row.check not in ("clearable", "unclearable")],
    ids=lambda row: f"line {row.line}",
)
def test_golden_positions_compiled(row: Position) -> None:
    position = Board.parse(row.board, named(width=row.width))
    pairs = [f"{i}-{j}" for i, j in compiled_pairs(position)]
    match row.check.split():
        case ["legal"]:
            assert row.expected in pairs
        case ["illegal"]:
            assert row.expected not in pairs
        case ["pairs"]:
            assert pairs == row.expected.split()
        case ["pair-count"]:
            assert len(pairs) == int(row.expected)
        case ["add"]:
            assert compiled_play(position.with_adds(1), "+")[0] == Board.parse(row.expected, position.ruleset)
        case ["play", action]:
            assert compiled_play(position, action)[0].text == row.expected


def compiled_play(position: Board, action: str) -> tuple[Board, bool]:
    """The position after an action, and whether going back restores the one before exactly."""
    n = len(position.cells)
    cells = np.zeros(2 * n, np.uint8)
    cells[:n] = position.cells
    if action == "+":
        end = board.add(cells, n)
        after = Board(tuple(cells[:end].tolist()), position.adds - 1, position.ruleset)
        return after, tuple(cells[:n].tolist()) == position.cells
    i, j = map(int, action.split("-"))
    undo = np.zeros(board.UNDO, np.int64)
    end = board.play(cells, n, position.width, i, j, undo)
    after = Board(tuple(cells[:end].tolist()), position.adds, position.ruleset)
    back = board.unplay(cells, end, position.width, undo)
    return after, back == n and tuple(cells[:n].tolist()) == position.cells


def test_pairs_play_add_and_undo_on_random_positions_under_every_ruleset() -> None:
    """Same pairs, same board after every action, and undo restores the state exactly."""
    rng = random.Random(31)
    seen = 0
    for settings in EVERY_LINK_SETTING:
        for width in (1, 2, 3, 4, 5, 7, 9, 12):
            ruleset = named(width=width, **settings)
            for _ in range(18):
                start = random_board(rng, rng.randint(1, 24), ruleset, classes=rng.randint(1, 5)).with_adds(2)
                for position, action in random_game(rng, start):
                    assert compiled_pairs(position) == list(position.pairs()), position
                    after, restored = compiled_play(position, action)
                    assert after == position.play(action), (str(position), action)
                    assert restored, (str(position), action)
                    seen += 1
    assert seen > 20_000


# the search's own form: sets of squares that stay in place, with one set of marks a line direction


@njit
def _trace(classes, width, links, removals, memory, like):  # type: ignore[no-untyped-def]
    """For each position on the way: the pairs as squares; two squares are removed each time."""
    squares: Any = pointer(classes)  # type: ignore[call-arg]
    layout, behind = search.make_layout(squares, classes.size, width, links, pointer(memory), like)
    stack, behind = search.new_stack(layout, adds.active_squares(squares, classes.size, like), behind)
    found = []
    for depth in range(removals.shape[0] + 1):
        search.rank(stack, depth, layout, True, U(depth), like)
        begin = stack.begin[depth]
        pairs = [stack.pool[i] for i in range(begin, begin + stack.count[depth])]
        found.append([(np.int64(key >> U(16)) & 0xFFFF, np.int64(key) & 0xFFFF) for key in pairs])
        if depth < removals.shape[0]:
            search.play(stack, depth, U(removals[depth, 0]), U(removals[depth, 1]), layout, like)
    return found


@njit
def _trace_in(classes, width, links, removals, memory, size):  # type: ignore[no-untyped-def]
    return _trace(classes, width, links, removals, memory, words.empty_of(size))  # type: ignore[call-arg]


def places(active: list[bool], width: int) -> dict[int, int]:
    """Square to position on the collapsed board."""
    standing = [row for row in range(0, len(active), width) if any(active[row : row + width])]
    return {row + c: rank * width + c for rank, row in enumerate(standing) for c in range(width)}


def test_marks_on_sets_of_squares_follow_the_rules_in_all_three_word_sizes() -> None:
    rng = random.Random(32)
    seen = 0
    for settings in EVERY_LINK_SETTING:
        for most, size in words.WORDS.items():
            for _ in range(5):
                width = rng.choice((1, 2, 3, 5, 9))
                ruleset = named(width=width, **settings)
                start = random_board(rng, rng.randint(2, min(most, 90)), ruleset, classes=rng.randint(1, 5))
                active = [True] * len(start.cells)
                position, removals, expected = start, [], []
                while True:
                    back = {place: square for square, place in places(active, width).items()}
                    pairs = [(back[i], back[j]) for i, j in position.pairs()]
                    expected.append(sorted(pairs))
                    if not pairs:
                        break
                    s, t = rng.choice(pairs)
                    place = places(active, width)
                    position = position.play(f"{place[s]}-{place[t]}")
                    active[s] = active[t] = False
                    removals.append((s, t))
                if not removals:
                    continue
                classes = np.array([class_of(d) for d in start.cells], np.uint8)
                memory = np.empty(adds.room(most, width, 0), np.uint64)
                found = _trace_in(classes, width, ruleset.link_bits, np.array(removals, np.int64), memory, size)
                assert [sorted(pairs) for pairs in found] == expected, start
                seen += len(expected)
    assert seen > 3_000


# single steps


@njit
def _select(word, k):  # type: ignore[no-untyped-def]
    return bits.select(word, k)


@njit
def _splitmix(state, count):  # type: ignore[no-untyped-def]
    out = np.empty(count, np.uint64)
    for k in range(count):
        state += bits.GOLDEN
        out[k] = bits.mix(state)
    return out


def test_select_finds_the_kth_bit() -> None:
    rng = random.Random(1)
    for _ in range(500):
        word = rng.getrandbits(64) & rng.getrandbits(64)
        places = [k for k in range(64) if word >> k & 1]
        assert [int(_select(U(word), U(k))) for k in range(len(places))] == places


def test_splitmix64_gives_its_published_numbers() -> None:
    """The first outputs from the seed 1234567, as in the reference program's test vectors (Vigna, splitmix64.c)."""
    drawn: NDArray[np.uint64] = _splitmix(U(1234567), 5)
    assert drawn.tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
