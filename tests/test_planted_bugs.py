"""A test of the tests: each kind of bug in `test_known_bugs.py`, planted by patching one function, is seen."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import test_known_bugs as known
from number_match import difficulty, identity, models, rules, simulate, solve, store, validate
from number_match.rules import Board

Patch = pytest.MonkeyPatch


def diagonals_leak(patch: Patch) -> None:
    real = Board._line

    def line(self: Board, i: int, link: str, step: int = 0) -> Iterator[int]:
        if link != "diagonal":
            yield from real(self, i, link, step)
        else:
            yield from range(i + self.width + step, len(self.cells), self.width + step)

    patch.setattr(Board, "_line", line)


def one_row_collapses(patch: Patch) -> None:
    def play(self: Board, action: str) -> Board:
        if action == rules.ADD:
            return self._add()
        i, j = rules.parse_pair(action)
        cells = list(self.cells)
        cells[i] = cells[j] = rules.HOLE
        row = i // self.width * self.width
        if not any(cells[row : row + self.width]):
            del cells[row : row + self.width]
        return replace(self, cells=tuple(cells))

    patch.setattr(Board, "play", play)


def add_fills_trailing_holes(patch: Patch) -> None:
    def add(self: Board) -> Board:
        cells = list(self.cells)
        while cells and not cells[-1]:
            cells.pop()
        return replace(self, cells=(*cells, *filter(None, cells)), adds=self.adds - 1)

    patch.setattr(Board, "_add", add)


def pairs_once_a_link(patch: Patch) -> None:
    def pairs(self: Board) -> Iterator[tuple[int, int]]:
        for i, digit in enumerate(self.cells):
            if digit:
                yield from ((i, j) for _, j in self._neighbours(i) if rules.matches(digit, self.cells[j]))

    patch.setattr(Board, "_pairs", pairs)


def table_without_adds(patch: Patch) -> None:
    real, table = solve.solve, dict[str, Any]()

    def solved(board: Board, **rest: Any) -> solve.SolveResult:
        result: solve.SolveResult = table.setdefault(board.text, real(board, **rest))
        return result

    patch.setattr(solve, "solve", solved)


def time_out_is_no(patch: Patch) -> None:
    real = solve._Search.result

    def result(self: Any, minimise: str) -> solve.SolveResult:
        found = real(self, minimise)
        return replace(found, verdict="unclearable") if found.verdict == "undecided" else found

    patch.setattr(solve._Search, "result", result)


def labels_inverted(patch: Patch) -> None:
    real = difficulty.band
    patch.setattr(difficulty, "band", lambda value, bands: real(difficulty.HARDEST - value, bands))


def canonical_is_the_board(patch: Patch) -> None:
    patch.setattr(identity, "canonical_text", lambda board: board.text)


def seed_of_32_bits(patch: Patch) -> None:
    real = identity.stream_keys

    def keys(seed: int, *rest: Any) -> Any:
        return real(seed & 0xFFFFFFFF, *rest)

    patch.setattr(simulate, "stream_keys", keys)


def one_stream_for_all(patch: Patch) -> None:
    real = identity.stream_keys

    def keys(seed: int, stage: str, puzzle: str, player: str, stream: str, numbers: range) -> Any:
        return real(seed, stage, puzzle, player, stream, range(len(numbers)))  # counted from where the batch begins

    patch.setattr("number_match.generate.stream_keys", keys)


def solution_is_believed(patch: Patch) -> None:
    def believed(board: Board, actions: Sequence[str]) -> Board:
        return Board((), board.adds, board.ruleset)

    patch.setattr(validate, "replay", believed)


def titles_in_latin(patch: Patch) -> None:
    real = models.pack_text

    def text(pack: models.Pack) -> str:
        return real(pack).encode("latin-1", "replace").decode("latin-1")

    patch.setattr(models, "pack_text", text)


def third_time_unlucky(patch: Patch) -> None:
    real, times = store.Store.prepare, dict[Path, int]()

    def prepare(self: store.Store) -> None:
        times[self.folder] = times.get(self.folder, 0) + 1
        if times[self.folder] > 2:
            raise FileExistsError(self.folder)
        real(self)

    patch.setattr(store.Store, "prepare", prepare)


PLANTS: list[tuple[Callable[[Patch], None], Callable[..., None], tuple[str, ...]]] = [
    (diagonals_leak, known.test_diagonals_leak_round_the_edge, ()),
    (one_row_collapses, known.test_two_rows_collapse_at_once, ()),
    (add_fills_trailing_holes, known.test_add_comes_after_trailing_holes_and_after_a_short_row_that_collapsed, ()),
    (pairs_once_a_link, known.test_a_pair_joined_by_two_links_is_counted_twice, ()),
    (table_without_adds, known.test_adds_left_are_missing_from_a_table, ()),
    (time_out_is_no, known.test_a_time_out_is_called_unclearable, ("budget",)),
    (labels_inverted, known.test_a_hard_stage_is_easier_than_an_easy_one, ("tmp_path",)),
    (canonical_is_the_board, known.test_duplicates_by_renaming_slip_in, ("tmp_path",)),
    (seed_of_32_bits, known.test_a_seed_is_cut_to_32_bits, ()),
    (one_stream_for_all, known.test_level_n_depends_on_level_n_minus_1, ()),
    (solution_is_believed, known.test_the_validator_trusts_the_generators_own_solution, ("tmp_path",)),
    (titles_in_latin, known.test_titles_that_are_not_ascii_break_files_and_terminals, ("tmp_path",)),
    (third_time_unlucky, known.test_a_second_resume_fails, ("tmp_path", "monkeypatch")),
]


@pytest.mark.parametrize(("plant", "test", "needs"), PLANTS, ids=[plant.__name__ for plant, _, _ in PLANTS])
def test_a_planted_bug_is_seen(
    monkeypatch: Patch,
    tmp_path: Path,
    plant: Callable[[Patch], None],
    test: Callable[..., None],
    needs: tuple[str, ...],
) -> None:
    have: dict[str, Any] = {"tmp_path": tmp_path, "monkeypatch": monkeypatch, "budget": 1}
    with monkeypatch.context() as patch:
        plant(patch)
        with pytest.raises((AssertionError, models.PackError, FileExistsError)):
            test(**{name: have[name] for name in needs})


def test_every_known_bug_is_planted() -> None:
    tests = {name for name in vars(known) if name.startswith("test_")}
    assert tests == {test.__name__ for _, test, _ in PLANTS}
