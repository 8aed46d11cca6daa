"""Re-skinning: the same puzzle, with as many equal pairs among the opening pairs as asked for."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from number_match.config import Family
from number_match.config_files import load
from number_match.generate import random_boards
from number_match.identity import canonical_id
from number_match.plan import Plan
from number_match.players import default_panel
from number_match.rules import Board, named
from number_match.simulate import simulate
from number_match.skin import equal_share, reskinned


def some_boards(how_many: int) -> list[Board]:
    rng = random.Random(5)
    made = []
    for _ in range(how_many):
        text = "".join(rng.choice("123456789") for _ in range(rng.randint(18, 45)))
        made.append(Board.parse("/".join(text[start : start + 9] for start in range(0, len(text), 9))))
    return made


@pytest.mark.parametrize("share", [0.25, 0.5, 0.8, 1.0])
def test_the_share_of_equal_pairs_is_had_and_the_puzzle_stays(share: float) -> None:
    missed = 0
    for board in some_boards(60):
        skinned = reskinned(board, share, seed=3)
        assert canonical_id(skinned) == canonical_id(board)
        assert skinned.pairs() == board.pairs()
        pairs = sum(board.cells[i] != 5 for i, _ in board.pairs())
        if pairs:
            reached = equal_share(skinned)
            assert reached is not None
            missed += abs(reached - share) > 0.5001 / pairs  # to the nearest pair
    assert missed <= 12  # rings of odd length


def test_the_nearest_share_is_found_where_rings_rule_out_the_one_asked_for() -> None:
    """Against all ways to choose digits, on small boards, when no pair should be equal."""
    nearest = 0
    for board in some_boards(60):
        small = Board.parse("/".join(board.text.split("/")[:2])[:14])
        pairs = [pair for pair in small.pairs() if small.cells[pair[0]] != 5]
        cells = sorted({cell for pair in pairs for cell in pair})
        choices = (dict(zip(cells, high, strict=True)) for high in product((0, 1), repeat=len(cells)))
        least = min(sum(high[i] == high[j] for i, j in pairs) for high in choices)
        skinned = reskinned(small, 0.0, seed=1)
        nearest += sum(skinned.cells[i] == skinned.cells[j] for i, j in pairs) == least
    assert nearest >= 58


def test_all_equal_is_always_had() -> None:
    for board in some_boards(60):
        assert equal_share(reskinned(board, 1.0, seed=1)) in (1, None)


def test_digits_follow_from_classes_share_and_seed() -> None:
    board = Board.parse("518145871/636527126/958716539/27158326")
    other = Board.parse("592965239/474583984/952394531/83952784")  # the same classes
    assert canonical_id(board) != canonical_id(other) or reskinned(board, 0.5, 7) == reskinned(other, 0.5, 7)
    assert reskinned(reskinned(board, 0.1, 9), 0.5, 7) == reskinned(board, 0.5, 7)
    assert len({reskinned(board, 0.5, seed).text for seed in range(20)}) == 20
    assert reskinned(Board.parse("555/.5.", named(width=3)), 0.0, 1).text == "555/.5."
    with pytest.raises(ValueError, match=r"share of equal pairs 1\.2"):
        reskinned(board, 1.2, 7)


def test_sums_are_harder_to_see() -> None:
    """Scores are those of the skinned board, and the panel sees a sum of 10 less easily."""
    player = default_panel()["casual"].model_copy(update={"sum_fade": 0.3})

    def passed(share: float) -> int:
        skinned = [reskinned(board, share, seed=1) for board in some_boards(12)]
        played = [simulate(board, player, name="casual", max_adds=2, playouts=range(1000), seed=1) for board in skinned]
        return sum(figures.passed[2] for figures in played)

    assert passed(1.0) > passed(0.0) + 100


def test_a_family_can_ask_for_a_share_of_equal_pairs() -> None:
    """The candidates are those of the family without that wish, in other digits."""
    plain = Family.model_validate({"name": "some", "cells": (27, 36)})
    equal = plain.model_copy(update={"equal_pairs": 0.9})
    tables = [random_boards(family, family.sizes, range(40), named(), seed=5) for family in (plain, equal)]
    assert tables[0]["canonical"].to_list() == tables[1]["canonical"].to_list()

    def mean_share(texts: list[str]) -> float:
        shares = [equal_share(Board.parse(text)) for text in texts]
        return float(sum(share for share in shares if share is not None) / len(shares))

    assert mean_share(tables[0]["board"].to_list()) < 0.7
    assert mean_share(tables[1]["board"].to_list()) > 0.85


def test_another_share_is_another_request(tmp_path: Path) -> None:
    """Candidates that were made before the wish changed are never taken for those that it asks for."""
    config = tmp_path / "some.toml"
    text = "[generate]\ncandidates = 150\n[[generate.families]]\nname = 'some'\ncells = 20\n"
    requests = []
    for wish in ("", "equal_pairs = 0.5\n", "equal_pairs = 0.6\n"):
        config.write_text(text + wish)
        plan = Plan(load([config]), tmp_path)
        requests.append([job.request.name for job in plan.generate(plan.base())])
    assert requests[0] != requests[1] != requests[2] != requests[0]
