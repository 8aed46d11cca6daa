"""Playouts: the compiled players against the plain twin, against exact chances, and the figures made of them."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binomtest

import plain_player
from number_match.identity import puzzle_id, stream_key, stream_keys
from number_match.players import Player, default_panel, integers
from number_match.rules import Board, Ruleset, named
from number_match.simulate import Playing, merge, simulate, trace, wilson

RANDOM = Player(kind="random")
RULESETS = [
    named(),
    named(diagonal=False),
    named(wrap=False),
    named(row=False),
    named(row=False, wrap=False),
    named(column=False, diagonal=False),
    named(width=1),
    named(width=1, wrap=False),
    named(width=2),
    named(width=3),
    named(width=5),
    named(width=7),
    named(width=12, column=False),
    named(width=62),
    named(width=63),
    named(width=64),
    named(width=127, wrap=False),
    named(width=255),
]


def boards(
    ruleset: Ruleset, how_many: int, cells: tuple[int, int], seed: int, digits: str = "123456789"
) -> list[Board]:
    """Random boards, some with holes."""
    rng = random.Random(f"{seed} {ruleset.settings}")
    made: list[Board] = []
    while len(made) < how_many:
        chosen = [rng.choice(digits if rng.random() < 0.8 else "...5") for _ in range(rng.randint(*cells))]
        rows = ["".join(chosen[start : start + ruleset.width]) for start in range(0, len(chosen), ruleset.width)]
        board = Board.parse("/".join(rows), ruleset)
        if board.active:
            made.append(board)
    return made


@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: ruleset.id)
def test_random_playouts_are_those_of_the_plain_twin(ruleset: Ruleset) -> None:
    """Same key, same playout, action by action, on boards that start in and grow past 64 and 128 squares."""
    for cells, allowance, how_many in (((1, 30), 3, 25), ((40, 64), 2, 5), ((60, 140), 2, 3)):
        for board in boards(ruleset, how_many, cells, seed=allowance):
            key = stream_key(1, "test", puzzle_id(board), "random", "report", 0)
            last, actions = plain_player.play_random(board, key, allowance)
            assert trace(board, RANDOM, key, allowance) == tuple(actions), str(board)
            assert last.cleared == (last.active == 0)


NOTICING = {
    **{name: player for name, player in default_panel().items() if player.kind == "noticing"},
    "hasty": Player(
        row=0.3, column=0.2, diagonal=0.1, wrap=0.1, looks=1, slip=0.3, deliberate=0.2, deliberate_below=4, patience=5
    ),
    "far-sighted": Player(look_ahead=2, opens=0.5, word=0.2, rows=-1, temperature=0.7, near_gain=0.9),
    "contrary": Player(salience=-3, opens=-0.5, word=-1, look_ahead=1, temperature=0.1, near_gain=0, row=0.5),
}


@pytest.mark.parametrize("name", NOTICING)
@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: ruleset.id)
def test_noticing_playouts_are_those_of_the_plain_twin(ruleset: Ruleset, name: str) -> None:
    """Same key, same playout, action by action, within each allowance, though the compiled one plays all from
    branches.
    """
    player = NOTICING[name]
    sizes = [((1, 24), 2, 3)]
    if player.look_ahead == 0 or ruleset.width in (9, 64):  # the plain twin takes long over big boards
        sizes += [((50, 64), 1, 1)]
    if name in ("casual", "hasty"):
        sizes += [((110, 140), 1, 1)]
    for cells, allowance, how_many in sizes:
        for board in boards(ruleset, how_many, cells, seed=allowance):
            key = stream_key(2, "test", puzzle_id(board), name, "report", 0)
            last, actions = plain_player.play_noticing(board, integers(player), key, allowance)
            assert trace(board, player, key, allowance) == tuple(actions), str(board)
            ends = [plain_player.play_noticing(board, integers(player), key, a)[0].active for a in range(allowance)]
            assert endings(board, player, key, allowance) == [*ends, last.active], str(board)


def endings(board: Board, player: Player, key: int, allowance: int) -> list[int]:
    """The cells that one playout leaves within each allowance."""
    run = Playing(board, player, allowance)
    run.play(np.array([key], np.uint64))
    return [int(row.argmax()) for row in run.left]


def test_a_playout_that_would_grow_past_the_cap_ends() -> None:
    """Rows that never match: the board doubles with every Add until it no longer fits."""
    board = Board.parse("123/456", named(width=3))
    key = stream_key(1, "test", "-", "random", "report", 0)
    last, actions = plain_player.play_random(board, key, 20)
    assert trace(board, RANDOM, key, 20) == tuple(actions)
    assert last.adds > 0
    figures = simulate(board, RANDOM, name="random", max_adds=20, playouts=range(50), seed=1)
    assert figures.passed == (0,) * 21
    assert all(sum(n for _, n in cells) == 50 for cells in figures.left)


@cache
def exact(board: Board) -> Fraction:
    """The chance that a uniform playout clears a board within its allowance."""
    if board.cleared:
        return Fraction(1)
    pairs = board.pairs()
    if not pairs:
        return exact(board.play("+")) if board.adds else Fraction(0)
    return sum((exact(board.play(f"{i}-{j}")) for i, j in pairs), Fraction(0)) / len(pairs)


@pytest.mark.parametrize(
    ("ruleset", "cells"),
    [(named(), (10, 12)), (named(width=2), (6, 9)), (named(width=3, wrap=False), (6, 9)), (named(width=4), (7, 9))],
)
def test_random_pass_rates_agree_with_exact_chances(ruleset: Ruleset, cells: tuple[int, int]) -> None:
    """On boards of a few cells the chance is a sum over all orders of play."""
    playouts, checked = 2000, 0
    for board in boards(ruleset, 40, cells, seed=7, digits="192837"):
        figures = simulate(board, RANDOM, name="random", max_adds=1, playouts=range(playouts), seed=3)
        for allowance in (0, 1):
            chance = exact(board.with_adds(allowance))
            passed = figures.passed[allowance]
            if chance in (0, 1):
                assert passed == chance * playouts, str(board)
            else:
                checked += 1
                assert binomtest(passed, playouts, float(chance)).pvalue > 1e-6, f"{board} {passed} {float(chance)}"
    assert checked >= 5


def test_uniform_means_that_every_pair_is_equally_likely() -> None:
    """A pair by two links, one of them wrap, is no likelier than the others."""
    board = Board.parse("9...../1237", named(width=6))
    assert board.links(0, 6) == ("column", "wrap")
    assert len(board.pairs()) == 2
    keys = stream_keys(1, "test", "-", "random", "report", range(2000))
    first = [trace(board, RANDOM, int(key), 0)[0] for key in keys]
    assert binomtest(first.count("0-6"), 2000, 0.5).pvalue > 1e-6


def test_figures_do_not_depend_on_how_playouts_are_cut() -> None:
    board = Board.parse("518145871/636527126/958716539/27158326")

    def play(playouts: range) -> object:
        return simulate(board, RANDOM, name="random", max_adds=4, playouts=playouts, seed=5)

    whole = play(range(5000))
    parts = [simulate(board, RANDOM, name="random", max_adds=4, playouts=cut, seed=5)
             for cut in (range(4999, 5000), range(1), range(1, 700), range(700, 4999))]  # fmt: skip
    assert merge(parts) == whole
    assert parts[0].merge(parts[1]).playouts == 2
    assert play(range(10)) != play(range(10, 20))


def test_figures_tell_of_the_same_playouts_in_every_way() -> None:
    board = Board.parse("518145871/636527126/958716539/27158326")
    playouts = 100
    figures = simulate(board, RANDOM, name="random", max_adds=3, playouts=range(playouts), seed=5)
    ends = []
    for number in range(playouts):
        key = stream_key(5, "score", puzzle_id(board), "random", "report", number)
        ends.append([plain_player.play_random(board, key, allowance) for allowance in range(4)])
    for allowance in range(4):
        left = [end[allowance][0].active for end in ends]
        assert figures.passed[allowance] == left.count(0)
        assert dict(figures.left[allowance]) == {n: left.count(n) for n in sorted(set(left) - {0})}
    cleared = [actions for last, actions in (end[3] for end in ends) if last.cleared]
    assert dict(figures.actions) == {n: sum(len(a) == n for a in cleared) for n in sorted({len(a) for a in cleared})}
    assert list(figures.used) == [sum(actions.count("+") == k for actions in cleared) for k in range(4)]


def test_wilson_is_scipys() -> None:
    for passed, playouts in ((0, 1), (1, 1), (3, 10), (50, 100), (9999, 10000), (0, 10000), (123, 4567)):
        expected = binomtest(passed, playouts).proportion_ci(0.95, "wilson")
        assert wilson(passed, playouts) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="5 of 4"):
        wilson(5, 4)
    assert NormalDist().inv_cdf(0.975) == pytest.approx(1.959963984540054, abs=1e-12)
