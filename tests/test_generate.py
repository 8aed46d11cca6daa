"""Candidates: the same board in whatever shard, of the family that was asked for; files of boards read as users
write them."""

from collections import Counter
from pathlib import Path

import pytest

from number_match.config import Family
from number_match.errors import UserError
from number_match.generate import SCHEMA, given_boards, random_boards, read_boards
from number_match.identity import canonical_id, puzzle_id
from number_match.rules import VEYRA_1, Board, class_counts

ANY = Family(name="any", cells=(20, 24))
EVEN = Family(name="even", cells=(9, 13), parity="even", digits=(5, 1, 1, 1, 1, 1, 1, 1, 1))


@pytest.mark.parametrize("family", [ANY, EVEN])
def test_a_candidate_is_the_same_in_whatever_shard(family: Family) -> None:
    whole = random_boards(family, family.sizes, range(60), VEYRA_1, 7)
    parts = [random_boards(family, family.sizes, numbers, VEYRA_1, 7) for numbers in (range(25), range(25, 60))]
    assert whole.schema == SCHEMA
    assert whole.rows() == [row for part in parts for row in part.rows()]


def test_candidates_do_not_change_between_versions() -> None:
    """A pack must be made again from its config alone; another board here is another GENERATOR_BEHAVIOUR."""
    assert random_boards(ANY, ANY.sizes, range(3), VEYRA_1, 1)["board"].to_list() == FIRST


FIRST = ["731916728/351876448/34631", "346635319/667792842/26", "661631222/367359882/53655"]


def test_boards_are_named_by_their_content() -> None:
    for row in random_boards(ANY, ANY.sizes, range(20), VEYRA_1, 1).iter_rows(named=True):
        board = Board.parse(row["board"])
        assert board.text == row["board"]
        assert (row["puzzle"], row["canonical"], row["cells"]) == (puzzle_id(board), canonical_id(board), board.active)


def test_sizes_are_the_ones_asked_for_and_equally_likely() -> None:
    sizes = Counter(random_boards(ANY, ANY.sizes, range(2000), VEYRA_1, 3)["cells"].to_list())
    assert sorted(sizes) == [20, 21, 22, 23, 24]
    assert min(sizes.values()) > 320


def test_parity_even_gives_every_class_an_even_number_of_cells() -> None:
    table = random_boards(EVEN, EVEN.sizes, range(300), VEYRA_1, 3)
    assert set(table["cells"]) == {10, 12}
    for text in table["board"]:
        assert not any(count % 2 for count in class_counts(Board.parse(text)))


def test_digits_come_by_weight() -> None:
    family = Family(name="ones", cells=(81, 81), digits=(8, 0, 0, 0, 1, 0, 0, 0, 1))
    digits = Counter("".join(random_boards(family, family.sizes, range(100), VEYRA_1, 3)["board"]).replace("/", ""))
    assert sorted(digits) == ["1", "5", "9"]
    assert 0.78 < digits["1"] / digits.total() < 0.82


def test_other_seeds_and_families_give_other_boards() -> None:
    one = random_boards(ANY, ANY.sizes, range(50), VEYRA_1, 1)["board"].to_list()
    large_seed = random_boards(ANY, ANY.sizes, range(50), VEYRA_1, 1 + 2**32)["board"].to_list()
    renamed = random_boards(ANY.model_copy(update={"name": "other"}), ANY.sizes, range(50), VEYRA_1, 1)[
        "board"
    ].to_list()
    assert len({*one, *large_seed, *renamed}) == 150


def test_a_file_of_boards_is_read(tmp_path: Path) -> None:
    path = tmp_path / "boards.txt"
    path.write_text("# tutorial\n\n316372222/5516\n  1.9 \n", encoding="utf-8")
    texts = read_boards(path, "file", VEYRA_1)
    assert texts == ["316372222/5516", "1.9"]
    assert given_boards("hand", texts, range(2), VEYRA_1)["cells"].to_list() == [13, 2]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "expected at least one board"),
        (b"# nothing\n", "expected at least one board"),
        (b"12\n1x3\n", "boards.txt:2: expected a board"),
        (b"12 +3\n", "boards.txt:1: .*without \\+N"),
        (b"-\n", "boards.txt:1: .*a digit"),
        (b"\xff", "byte 0 is not UTF-8"),
    ],
)
def test_a_bad_file_of_boards_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "boards.txt"
    path.write_bytes(content)
    with pytest.raises(UserError, match=words):
        read_boards(path, "generate.families[0].file", VEYRA_1)
