"""Assembly: curves as the config describes them, the least distance there is, and every constraint kept."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from number_match.assemble import (
    Assembly,
    Pool,
    Slot,
    alternatives,
    assemble,
    class_rows,
    lacking,
    near_pairs,
    shortlist,
    slots,
    targets,
)
from number_match.config import AssembleConfig, Curve
from number_match.difficulty import HARDEST


def pool(scores: Any, **more: Any) -> Pool:
    """A pool of puzzles with these scores (thousandths; a row each, a column an allowance)."""
    table = np.array(scores, dtype=np.int64)
    number = len(table)
    rng = np.random.default_rng(number)
    given = {
        "puzzles": [f"p-{int(value):016x}0000" for value in rng.integers(0, 2**63, number)],
        "boards": ["".join(rng.choice(list("123456789"), 9)) for _ in range(number)],
        "families": np.array(["a"] * number),
        "min_adds": np.zeros(number, dtype=np.int64),
        "par": np.full(number, 5, dtype=np.int64),
        "early": np.zeros(number, dtype=bool),
        "scores": table,
    }
    return Pool(**(given | more))  # type: ignore[arg-type]


def slot(number: int, target: int, adds: tuple[int, int] = (0, 0), **more: Any) -> Slot:
    return Slot(id=f"L001-S{number:02}", level=1, stage=number, target=target, adds=adds, **more)


def config(**more: Any) -> AssembleConfig:
    return AssembleConfig.model_validate({"tolerance": 100.0, "constraints": {"near_duplicates": None}} | more)


def rows(found: Assembly) -> list[int]:
    assert not found.unfilled
    return [place.row for place in found.places if place]


# curves


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (Curve(kind="linear", start=10, end=50), [10, 20, 30, 40, 50]),
        (Curve(kind="plateau", start=10, end=50, period=2), [10, 10, 30, 30, 50]),
        (Curve(kind="sawtooth", start=10, end=50, period=3, depth=6), [4, 17, 30, 34, 47]),
        (Curve(kind="list", values=(5, 4, 3, 2, 1.5)), [5, 4, 3, 2, 1.5]),
        (Curve.model_validate({"kind": "points", "points": ({"stage": 2, "target": 10.0}, {"stage": 4, "target":
        30.0})}), [10, 10, 20, 30, 30]), (Curve(kind="linear", start=90, end=70, unit="pass"), [10, 15, 20, 25, 30]),
        (Curve(kind="sawtooth", start=2, end=2, period=5, depth=10), [0, 0, 0, 0, 2]),
    ],
)  # fmt: skip
def test_curves_are_as_described(curve: Curve, expected: list[float]) -> None:
    assert targets(curve, 5) == [round(value * 1000) for value in expected]


def test_relief_is_relief_in_either_unit() -> None:
    score = targets(Curve(kind="sawtooth", start=20, end=60, period=4, depth=8), 12)
    passing = targets(Curve(kind="sawtooth", start=80, end=40, period=4, depth=8, unit="pass"), 12)
    assert np.abs(np.array(score) - np.array(passing)).max() <= 1  # halves are rounded up in either unit
    assert score[4] < score[3]


def test_one_stage_is_the_start_of_its_curve() -> None:
    assert targets(Curve(start=12, end=50), 1) == [12_000]


def test_levels_may_have_their_own_curve_allowance_and_families() -> None:
    made = AssembleConfig.model_validate(
        {
            "levels": 2,
            "stages": 3,
            "curve": {"kind": "linear", "start": 0.0, "end": 50.0},
            "level": (
                {"level": 2, "id": "Boss", "curve": {"start": 90.0, "end": 80.0}, "adds": 2, "families": ("a",)},
            ),
        }
    )
    found = slots(made, (1, 5))
    assert [s.id for s in found] == ["L001-S01", "L001-S02", "L001-S03", "Boss-S01", "Boss-S02", "Boss-S03"]
    assert [s.target for s in found] == [0, 10_000, 20_000, 90_000, 85_000, 80_000]
    assert [s.adds for s in found] == [(1, 5)] * 3 + [(2, 2)] * 3
    assert found[3].families == frozenset({"a"})
    assert slots(made, (1, 5), before=4)[0].id == "L005-S01"


# assignment


def brute_force(wanted: list[Slot], stock: Pool, limit: int) -> int:
    """The least sum of squared distances over all ways to fill the slots."""
    best = -1
    for chosen in itertools.permutations(range(len(stock)), len(wanted)):
        total = 0
        for one, row in zip(wanted, chosen, strict=True):
            near = [
                abs(int(stock.scores[row, adds]) - one.target)
                for adds in range(one.adds[0], one.adds[1] + 1)
                if stock.min_adds[row] + one.slack <= adds
                and (one.families is None or stock.families[row] in one.families)
            ]
            if not near or min(near) > limit:
                break
            total += min(near) ** 2
        else:
            best = total if best < 0 else min(best, total)
    return best


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_assignment_is_the_best_there_is(data: st.DataObject) -> None:
    number = data.draw(st.integers(1, 4))
    stock = data.draw(st.integers(number, 6))
    score = st.integers(0, 20).map(lambda value: value * 1000)
    table = data.draw(st.lists(st.tuples(score, score, score), min_size=stock, max_size=stock))
    families = np.array(data.draw(st.lists(st.sampled_from(["a", "b"]), min_size=stock, max_size=stock)))
    min_adds = np.array(data.draw(st.lists(st.integers(0, 2), min_size=stock, max_size=stock)), dtype=np.int64)
    wanted = [
        slot(n, data.draw(score), (data.draw(st.integers(0, 1)), 2), slack=data.draw(st.integers(0, 1)),
             families=data.draw(st.sampled_from([None, frozenset({"a"}), frozenset({"a", "b"})])))
        for n in range(number)
    ]  # fmt: skip
    tolerance = data.draw(st.sampled_from([3.0, 100.0]))
    made = pool(table, families=families, min_adds=min_adds)
    found = assemble(wanted, made, config(tolerance=tolerance))
    best = brute_force(wanted, made, round(tolerance * 1000))
    if found.unfilled:
        assert best == -1
        return
    assert found.cost == found.bound == best
    chosen = rows(found)
    assert len(set(chosen)) == len(chosen)
    for one, place in zip(wanted, found.places, strict=True):
        assert place
        assert one.adds[0] <= place.adds <= one.adds[1]
        assert made.min_adds[place.row] + one.slack <= place.adds
        assert one.families is None or made.families[place.row] in one.families
        assert place.distance == abs(made.scores[place.row, place.adds] - one.target) <= tolerance * 1000


def test_the_answer_does_not_depend_on_the_order_of_the_pool() -> None:
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 40, (300, 2)) * 500  # coarse: many equal distances
    made = pool(scores)
    wanted = [slot(n, 100 * n, (0, 1)) for n in range(40)]
    first = assemble(wanted, made, config())
    order = rng.permutation(300)
    shuffled = Pool(
        puzzles=[made.puzzles[row] for row in order],
        boards=[made.boards[row] for row in order],
        families=made.families,
        min_adds=made.min_adds,
        par=made.par,
        early=made.early,
        scores=scores[order],
    )
    second = assemble(wanted, shuffled, config())
    assert [made.puzzles[row] for row in rows(first)] == [shuffled.puzzles[row] for row in rows(second)]
    assert first.cost == second.cost


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(20, 45), st.integers(0, 15), st.sampled_from([50, 2_000]))
def test_looking_at_few_choices_loses_nothing(seed: int, number: int, spare: int, step: int) -> None:
    """The same answer as from every choice at once, where slots want the same boards and few are left over."""
    rng = np.random.default_rng(seed)
    made = pool(rng.integers(0, 20, (number + spare, 2)) * step)
    wanted = [slot(n, int(rng.integers(0, 10)) * step, (0, 1)) for n in range(number)]
    few = assemble(wanted, made, config())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("number_match.assemble._FEW", 1)
        fewest = assemble(wanted, made, config())
        patch.setattr("number_match.assemble._FEW", 1000)
        every = assemble(wanted, made, config())
    assert rows(few) == rows(fewest) == rows(every)


def test_of_two_allowances_the_nearer_is_taken_and_of_equals_the_smaller() -> None:
    made = pool([[50_000, 30_000, 10_000]])
    assert [place and place.adds for place in assemble([slot(1, 28_000, (0, 2))], made, config()).places] == [1]
    assert [place and place.adds for place in assemble([slot(1, 40_000, (0, 2))], made, config()).places] == [0]


def test_as_many_slots_as_possible_are_filled_when_not_all_can_be() -> None:
    made = pool([[10_000], [20_000]])
    found = assemble([slot(1, 10_000), slot(2, 11_000), slot(3, 20_000)], made, config(tolerance=5))
    assert found.unfilled == [1]


def test_pinned_puzzles_stand_where_they_are_pinned_and_nowhere_else() -> None:
    made = pool([[10_000], [20_000], [30_000]])
    pinned = made.puzzles[0]
    made = pool([[10_000], [20_000], [30_000]], reserved=frozenset({pinned}))
    found = assemble([slot(1, 10_000), slot(2, 90_000, puzzle=pinned)], made, config(tolerance=15))
    assert rows(found) == [1, 0]


def test_floor_ceilings_and_early_adds_rule_puzzles_out() -> None:
    made = pool(
        [[10_000]] * 5,
        floor=np.array([[4_000], [60_000], [60_000], [60_000], [60_000]]),
        par=np.array([5, 9, 5, 5, 5]),
        early=np.array([False, False, True, False, False]),
        actions=np.array([7, 7, 7, 99, 7]),
    )
    only = slot(1, 10_000, floor=5_000, max_par=8, early_add=False, max_actions=20)
    assert rows(assemble([only], made, config())) == [4]


# couplings


def families_in_row(names: list[str]) -> int:
    return max(len(list(group)) for _, group in itertools.groupby(names))


@pytest.mark.parametrize("method", ["repair", "milp"])
def test_not_too_many_of_one_family_stand_in_a_row(method: str) -> None:
    scores = [[1_000 * n] for n in range(24)]
    families = np.array(["a"] * 12 + ["b"] * 12)
    made = pool(scores, families=families)
    wanted = [slot(n, 1_000 * n + 100) for n in range(12)]
    rules = {"family_in_row": 3, "near_duplicates": None}
    found = assemble(wanted, made, config(constraints=rules, method=method))
    assert families_in_row([str(families[row]) for row in rows(found)]) <= 3
    assert found.bound == 12 * 100**2 < found.cost
    assert found.moved


def test_milp_is_at_least_as_good_as_repair() -> None:
    rng = np.random.default_rng(3)
    made = pool(rng.integers(0, 50_000, (60, 1)), families=np.array(["a", "a", "b"] * 20))
    wanted = [slot(n, 3_000 * n) for n in range(12)]
    rules = {"family_in_row": 1, "near_duplicates": None}
    repaired, exact = (
        assemble(wanted, made, config(constraints=rules, method=method)) for method in ("repair", "milp")
    )
    assert repaired.bound <= exact.cost <= repaired.cost


@pytest.mark.parametrize("method", ["repair", "milp"])
def test_near_duplicates_stand_apart(method: str) -> None:
    boards = ["123451234", "123451235", "555511112", "121212121"]
    made = pool([[10_000], [11_000], [14_000], [15_000]], boards=boards)
    wanted = [slot(1, 10_000), slot(2, 11_000)]
    rules = {"near_duplicates": {"distance": 0.25, "window": 1}}
    chosen = rows(assemble(wanted, made, config(constraints=rules, method=method)))
    assert set(chosen) != {0, 1}
    apart = [slot(1, 10_000), slot(2, 15_000), slot(3, 11_000)]
    assert rows(assemble(apart, made, config(constraints=rules, method=method))) == [0, 3, 1]


def ref_difference(a: str, b: str) -> int:
    """Cells in which two boards differ, over all renamings of the five classes."""

    def classes(text: str) -> list[int]:
        return [min(int(char), 10 - int(char)) - 1 for char in text]

    one, two = classes(a), classes(b)
    same = max(
        sum(renamed[x] == y for x, y in zip(one, two, strict=False)) for renamed in itertools.permutations(range(5))
    )
    return max(len(one), len(two)) - same


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("123456789", min_size=3, max_size=7), min_size=2, max_size=6), st.integers(0, 7))
def test_near_duplicates_are_found_as_by_trying_every_renaming(boards: list[str], eighths: int) -> None:
    distance = eighths / 8
    expected = {
        (i, j)
        for i, j in itertools.combinations(range(len(boards)), 2)
        if ref_difference(boards[i], boards[j]) < distance * max(len(boards[i]), len(boards[j]))
    }
    assert set(near_pairs(class_rows(boards), distance)) == expected
    assert list(near_pairs(class_rows([]), distance)) == []
    assert set(near_pairs(class_rows(boards), distance, 1)) == {(i, j) for i, j in expected if j - i == 1}


# what is read about it


def test_a_shortlist_gives_every_slot_its_own_boards() -> None:
    made = pool([[1_000 * n] for n in range(100)])
    wanted = [slot(n, 50_000) for n in range(10)]
    lists = shortlist(wanted, made, 4, HARDEST)
    assert [len(rows) for rows in lists] == [4] * 10
    every = set().union(*lists)
    assert every == set(range(30, 71)) - {30} or every == set(range(30, 71)) - {70}


def test_what_hinders_an_alternative_is_named() -> None:
    made = pool([[10_000], [10_500], [11_000]], families=np.array(["a", "b", "a"]))
    found = alternatives(slot(1, 10_000, families=frozenset({"a"})), made, 3, {0: "L001-S02"})
    assert [item.hindered for item in found] == ["stands at L001-S02", "assemble.families", ""]
    assert [item.distance for item in found] == [0, 500, 1_000]


def test_what_would_have_to_give_is_named() -> None:
    made = pool([[10_000, 80_000]], families=np.array(["b"]))
    assert lacking(slot(1, 10_000, families=frozenset({"a"})), made, 1_000)[1] == "assemble.families"
    assert lacking(slot(1, 80_000), made, 1_000)[1] == "assemble.adds"
    nearest, setting = lacking(slot(1, 40_000), made, 1_000)
    assert nearest
    assert (nearest.score, setting) == (10_000, "generate.families or assemble.tolerance")
