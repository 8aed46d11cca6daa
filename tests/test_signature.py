"""A change of behaviour comes with a higher behaviour version, or it is a mistake."""

import pytest

import signature
from number_match.simulate import SCORING_BEHAVIOUR
from number_match.solve import SOLVER_BEHAVIOUR


@pytest.mark.parametrize("part", ["solver", "scoring"])
def test_the_signature_changes_only_with_the_behaviour_version(part: str) -> None:
    behaviour, number = signature.signatures()[part]
    assert signature.kept()[part].get(str(behaviour)) == number, (
        f"the {part} behaves differently: if that is meant, raise its behaviour version and run `make signature KEEP=1`"
    )


def test_no_behaviour_version_is_left_out_or_ahead() -> None:
    for part, behaviour in (("solver", SOLVER_BEHAVIOUR), ("scoring", SCORING_BEHAVIOUR)):
        assert sorted(map(int, signature.kept()[part])) == list(range(1, behaviour + 1))


def test_the_boards_are_fifty_of_all_kinds() -> None:
    boards = list(signature.boards())
    assert len(set(boards)) == 50
    assert len({board.ruleset for board in boards}) == 5
    assert {board.adds for board in boards} == {0, 1, 2, 3}
    assert any(0 in board.cells for board in boards)
