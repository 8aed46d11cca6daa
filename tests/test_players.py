"""Playouts: the compiled players against the plain twin, against exact chances, and the figures made of them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import exp
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from psutil import Process
from pydantic import ValidationError
from scipy.stats import binomtest

import plain_player
from number_match.errors import UserError
from number_match.identity import puzzle_id, stream_key, stream_keys
from number_match.players import LINK_ORDER, Player, default_panel, exponential, integers, notice_index
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


@pytest.mark.parametrize("name", ["random", "casual"])
def test_the_largest_boards_are_played_like_the_others(name: str) -> None:
    """Rows as wide as they can be, and lines that end with the last square there is."""
    for width, cells in ((255, 256), (254, 256), (128, 256), (127, 128), (126, 128), (63, 64), (64, 65), (62, 64)):
        for board in boards(named(width=width), 1, (cells, cells), seed=6):
            key = stream_key(3, "test", puzzle_id(board), name, "report", 0)
            if name == "random":
                _, actions = plain_player.play_random(board, key, 0)
            else:
                _, actions = plain_player.play_noticing(board, integers(default_panel()[name]), key, 0)
            assert trace(board, default_panel()[name], key, 0)[:40] == tuple(actions[:40]), str(board)


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


# -------------------------------------------------------------------------------------------------- model of players


def test_the_integers_of_a_player_are_its_parameters() -> None:
    """Against the formula of the docstrings in floating point, to the last unit but one."""
    player = Player(
        row=0.83, diagonal=0.4, hole_fade=0.9, row_fade=0.7, sum_fade=0.6, near_gain=0.25, salience=3.0, temperature=0.7
    )
    whole = integers(player)
    for number, link in enumerate(LINK_ORDER):
        for sums, near, holes in product((False, True), (False, True), (0, 1, 5, 31, 80)):
            rows = {"row": 0, "wrap": 1}.get(link, min(holes, 31) + 1)
            chance = getattr(player, link) * 0.9 ** min(holes, 31) * 0.7**rows * (0.6 if sums else 1)
            chance += (1 - chance) * 0.25 if near else 0
            index = notice_index(number, sums, near, holes)
            assert whole.notice[index] == pytest.approx(chance * 2**32, abs=1)
            assert whole.salience[index] == pytest.approx(64 * 3.0 * chance / 0.7, abs=1)
    assert len({notice_index(*at) for at in product(range(4), (False, True), (False, True), range(32))}) == 512
    weights = exponential()
    assert all(weight == pytest.approx(2**32 * exp(-d / 64), abs=1) for d, weight in enumerate(weights))
    assert max(weights) < 2**32
    assert weights[-1] == 1


@pytest.mark.parametrize(
    "better",
    [
        {"diagonal": 0.9, "wrap": 0.9},
        {"hole_fade": 1.0, "row_fade": 1.0},
        {"sum_fade": 1.0},
        {"near_gain": 1.0},
        {"look_ahead": 1},
        {"look_ahead": 2},
        {"looks": 12},
        {"patience": 500},
    ],
    ids=str,
)
def test_what_should_help_a_weak_player_does(better: dict[str, float]) -> None:
    """Each parameter alone raises the pass rate of a weak player over a few boards."""
    weak = Player(
        row=0.7, column=0.6, diagonal=0.2, wrap=0.1, hole_fade=0.7, row_fade=0.8, sum_fade=0.5, near_gain=0, patience=20
    )  # fmt: skip

    def passed(player: Player) -> int:
        played = [
            simulate(board, player, name="some", max_adds=3, playouts=range(1500), seed=1).passed[3]
            for board in boards(named(), 12, (24, 36), seed=3)
        ]
        return sum(played)

    assert passed(weak.model_copy(update=better)) > 1.1 * passed(weak)


def test_deliberate_adds_and_slips_happen() -> None:
    board = Board.parse("316372222/551693718/46")
    sure = {"row": 1.0, "column": 1.0, "diagonal": 1.0, "wrap": 1.0, "hole_fade": 1.0, "row_fade": 1.0, "sum_fade": 1.0}
    early = Player(**sure, deliberate=1.0, deliberate_below=1000)
    assert trace(board, early, 5, 2)[:3] != ("+", "+", "+")
    assert trace(board, early, 5, 2)[:2] == ("+", "+")
    steady = Player(**sure, temperature=0.01, salience=0, rows=0, opens=1, word=0, look_ahead=1)
    first = {trace(board, steady, key, 0)[0] for key in range(60)}
    slipping = {trace(board, steady.model_copy(update={"slip": 1.0}), key, 0)[0] for key in range(60)}
    assert len(slipping) > len(first) + 5


def test_the_default_panel_goes_from_weak_to_strong() -> None:
    names = [name for name, player in default_panel().items() if player.kind == "noticing"]
    assert len(names) >= 5
    assert default_panel()["random"].kind == "random"
    some = boards(named(), 12, (27, 36), seed=9)
    means = [
        sum(
            simulate(board, default_panel()[name], name=name, max_adds=3, playouts=range(400), seed=1).passed[3]
            for board in some
        )
        for name in names
    ]
    assert means == sorted(means)
    assert all(stronger > weaker + 100 for weaker, stronger in pairwise(means))


def test_a_player_that_makes_no_sense_is_refused() -> None:
    for wrong in (
        {"row": 1.2},
        {"row": 0.12345},
        {"temperature": 0},
        {"look_ahead": 3},
        {"looks": 0},
        {"luck": 1},
        {"wrap": float("nan")},
    ):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            Player.model_validate(wrong)


def test_what_cannot_be_played_is_refused_in_a_sentence() -> None:
    long = Board.parse("/".join(["123456789"] * 28 + ["12345"]))
    with pytest.raises(UserError, match="a board of 257 cells: players take at most 256"):
        simulate(long, RANDOM, name="random", max_adds=1, playouts=range(1), seed=1)
    board = Board.parse("11")
    with pytest.raises(UserError, match="largest allowance 100: expected 0 to 99"):
        simulate(board, RANDOM, name="random", max_adds=100, playouts=range(1), seed=1)
    with pytest.raises(UserError, match="expected a range of numbers from 0 upwards"):
        simulate(board, RANDOM, name="random", max_adds=1, playouts=range(5, 1, -1), seed=1)
    assert simulate(board, RANDOM, name="random", max_adds=1, playouts=range(0), seed=1).passed == (0, 0)


def test_a_cleared_board_is_passed_by_everybody() -> None:
    for name, player in default_panel().items():
        figures = simulate(Board.parse("-"), player, name=name, max_adds=2, playouts=range(3), seed=1)
        assert figures.passed == (3, 3, 3)
        assert figures.actions == ((0, 3),)


@pytest.mark.soak
def test_a_million_playouts_do_not_grow_memory() -> None:
    board, player = Board.parse("12345/67891/23456", named(width=5)), default_panel()["casual"]
    simulate(board, player, name="casual", max_adds=3, playouts=range(10_000), seed=1)
    before = Process().memory_info().rss
    figures = simulate(board, player, name="casual", max_adds=3, playouts=range(10_000, 1_010_000), seed=1)
    assert figures.playouts == 1_000_000
    assert Process().memory_info().rss < before + 20 * 2**20


@pytest.mark.soak
def test_playouts_are_the_same_on_a_processor_without_bit_deposit(tmp_path: Path) -> None:
    """Compiled for a plain processor, where bits are moved by loops and in steps, the same games come out."""
    program = (
        "from test_players import *\n"
        "for ruleset in RULESETS[:4]:\n"
        "    for board in boards(ruleset, 4, (10, 70), seed=8):\n"
        "        for name, player in (NOTICING | {'random': RANDOM}).items():\n"
        "            print(board, trace(board, player, 77, 3))\n"
    )

    def played(**more: str) -> str:
        env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(Path(__file__).parent)} | more
        return subprocess.run(
            [sys.executable, "-c", program], env=env, check=True, capture_output=True, text=True
        ).stdout

    assert played(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") == played()
