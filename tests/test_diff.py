"""What changed between two releases, as a person reads it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaking import NARROW, VEYRA, Change, Document, changed, load, puzzle, stage, write
from conftest import Command
from number_match.diff import Difference, Kind, _longest_rise, diff, written
from number_match.formats import DiffFormat
from number_match.models import Pack, client_pack, parse_pack, read_pack

OTHER = "p-" + "a" * 20
ANOTHER = "p-" + "b" * 20


def pack_of(document: Document) -> Pack:
    pack = parse_pack(json.dumps(document).encode(), "x")
    assert isinstance(pack, Pack)
    return pack


def against(change: Change) -> Difference:
    """What a change to the golden pack looks like."""
    return diff(read_pack(VEYRA), pack_of(changed(load(), change)))


def kinds(difference: Difference) -> list[tuple[str, str]]:
    return [(change.kind.value, change.stage) for change in difference.changes]


def _swap_stages(document: Document) -> None:
    """The first and the third Stage of the first Level change places."""
    stages = document["levels"][0]["stages"]
    stages[0], stages[2] = stages[2] | {"id": "L001-S01"}, stages[0] | {"id": "L001-S03"}


def _remove_first(document: Document) -> None:
    del document["levels"][0]["stages"][0], document["puzzles"][0]
    for number, one in enumerate(document["levels"][0]["stages"], 1):
        one["id"] = f"L001-S{number:02}"


def _replace(document: Document) -> None:
    puzzle(document, 1)["id"] = OTHER
    stage(document, 1)["puzzle"] = OTHER


def _shift_and_replace(document: Document) -> None:
    """The first puzzle leaves, the second takes its Stage, a new one comes to the second Stage and one to the third."""
    puzzle(document, 0)["id"], puzzle(document, 2)["id"] = OTHER, ANOTHER
    first, second, third = document["levels"][0]["stages"]
    targets = [one["difficulty"]["target"] for one in (first, second)]
    first.update(id="L001-S02", puzzle=OTHER)
    first["difficulty"]["target"] = targets[1] + 1
    second["id"] = "L001-S01"
    second["difficulty"]["target"] = targets[0]
    third["puzzle"] = ANOTHER
    third["difficulty"]["score"] = 27.0
    document["levels"][0]["stages"] = [second, first, third]


def _other_counts(document: Document) -> None:
    counts = stage(document, 5)["difficulty"]["players"]["expert"]["passed"]
    counts[stage(document, 5)["adds"]] += -300 if counts[stage(document, 5)["adds"]] > 1000 else 300


def _other_level(document: Document) -> None:
    first, second = document["levels"]
    second["stages"].insert(0, first["stages"].pop())


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda d: None, []),
        (lambda d: d.update(title="Later"), [("header", "")]),
        (lambda d: d.update(pack_version=2), [("header", "")]),
        (lambda d: d["levels"][1].update(title="?"), [("header", "")]),
        (lambda d: d["assembly"]["curve"].update(end=60.0), [("header", "")]),
        (
            _swap_stages,
            [("moved", "L001-S01"), ("moved", "L001-S03"), ("target", "L001-S01"), ("target", "L001-S03")],
        ),
        (
            _remove_first,
            [
                ("moved", "L001-S01"),
                ("moved", "L001-S02"),
                ("removed", "L001-S01"),
                ("target", "L001-S01"),
                ("target", "L001-S02"),
            ],
        ),
        (_replace, [("replaced", "L001-S02")]),
        (_other_level, [("moved", "L001-S03")]),
        (lambda d: stage(d, 3).update(adds=stage(d, 3)["adds"] - 1), [("allowance", "L002-S01")]),
        (_other_counts, [("difficulty", "L002-S03")]),
        (lambda d: stage(d)["difficulty"].update(target=3.0), [("target", "L001-S01")]),
        (lambda d: stage(d)["solution"].reverse(), [("solution", "L001-S01")]),
        (lambda d: puzzle(d)["par"].update(upper=12), [("bounds", "")]),
        (lambda d: puzzle(d).update(family="other"), [("header", "")]),
        (lambda d: d.update(withdrawn=[OTHER]), [("withdrawn", "")]),
        (lambda d: d.update(withdrawn=[puzzle(d)["id"]]), [("withdrawn-back", "")]),
        (lambda d: puzzle(d).update(board="55"), [("id-changed", "")]),
        (lambda d: d["ruleset"].update(id="mine"), [("ruleset", "")]),
    ],
)
def test_a_change_is_told_as_what_it_is(change: Change, expected: list[tuple[str, str]]) -> None:
    assert sorted(kinds(against(change))) == sorted(expected)


def test_two_of_three_stages_exchanged_are_moved_and_the_one_between_them_is_not() -> None:
    assert [change.stage for change in against(_swap_stages).of(Kind.moved)] == ["L001-S01", "L001-S03"]


def test_a_withdrawn_id_that_came_back_and_an_id_with_another_board_are_called_out_first() -> None:
    old = pack_of(changed(load(), lambda d: d.update(withdrawn=[puzzle(d)["id"], OTHER])))
    difference = diff(old, pack_of(changed(load(), lambda d: puzzle(d, 1).update(board="55"))))
    assert [change.kind.value for change in difference.changes][:3] == [
        "id-changed",
        "withdrawn-back",
        "withdrawn-back",
    ]
    assert difference.summary.startswith("ATTENTION: 1 id changed its meaning and 2 withdrawn ids came back.")


def test_a_few_playouts_more_are_noise() -> None:
    def few(document: Document) -> None:
        stage(document, 5)["difficulty"]["players"]["expert"]["passed"][1] += 9

    assert kinds(against(few)) == []


def test_the_summary_is_one_paragraph_with_what_a_reviewer_asks() -> None:
    def change(document: Document) -> None:
        _replace(document)
        _other_counts(document)
        document["pack_version"] = 2
        document["generator"]["version"] = "9.9"

    summary = against(change).summary
    assert "\n" not in summary
    assert summary == (
        "golden-veyra version 1 → 2, 6 Stages: 1 with another puzzle, 1 puzzle left, 1 puzzle came, "
        "1 puzzle whose difficulty shifted beyond noise. "
        "Made by number-match-pipeline 9.9, before by number-match-pipeline 0.1.0."
    )


def test_client_files_are_compared_by_what_they_have() -> None:
    old = read_pack(VEYRA)
    new = pack_of(changed(load(), lambda d: stage(d)["difficulty"].update(score=1.0)))
    assert kinds(diff(client_pack(old), client_pack(new))) == [("difficulty", "L001-S01")]
    assert kinds(diff(client_pack(old), client_pack(old))) == []


def _twice(document: Document) -> None:
    """The first and the second Level change places, and all Stages have one id."""
    document["levels"].reverse()
    for level in document["levels"]:
        for one in level["stages"]:
            one["id"] = "L001-S01"


def test_stages_of_one_id_are_told_by_their_places() -> None:
    old = pack_of(
        changed(load(), lambda d: [one.update(id="L001-S01") for level in d["levels"] for one in level["stages"]])
    )
    moved = diff(old, pack_of(changed(load(), _twice))).of(Kind.moved)
    assert len(moved) == 3
    assert (moved[0].old, moved[0].new) == ("L002, Stage 4 of the pack", "L002, Stage 1 of the pack")


def test_puzzles_leave_and_come_and_stages_do_not() -> None:
    text = "\n".join(written(against(_remove_first), DiffFormat.text))
    assert "6 → 5 Stages: 2 with another puzzle, 2 with another target, 1 puzzle left, 2 puzzles moved." in text
    assert "Puzzles that left and were not replaced (1)\n  L001-S01 p-" in text
    back = "\n".join(written(diff(pack_of(changed(load(), _remove_first)), read_pack(VEYRA)), DiffFormat.text))
    assert "5 → 6 Stages: 2 with another puzzle, 2 with another target, 1 puzzle came, 2 puzzles moved." in back
    assert "Stages removed" not in text
    assert "Stages added" not in back


def test_the_summary_counts_every_puzzle_that_left_and_came_and_every_stage_with_another() -> None:
    difference = against(_shift_and_replace)
    assert [len(difference.of(kind)) for kind in (Kind.replaced, Kind.removed, Kind.added, Kind.moved)] == [1, 1, 1, 1]
    assert difference.summary == (
        "golden-veyra version 1, 6 Stages: 3 with another puzzle, 1 with another target, "
        "2 puzzles left, 2 puzzles came, 1 puzzle moved."
    )


def test_targets_are_compared_stage_by_stage() -> None:
    assert [change.stage for change in against(_shift_and_replace).of(Kind.target)] == ["L001-S02"]


def test_a_replaced_puzzle_stands_before_the_arrow_and_the_new_one_after_it() -> None:
    difference = against(_shift_and_replace)
    gone = stage(load(), 2)["puzzle"]
    [line] = [line for line in written(difference, DiffFormat.text) if line.startswith("  L001-S03")]
    [row] = [line for line in written(difference, DiffFormat.markdown) if line.startswith("| L001-S03")]
    before, after = line.removeprefix("  L001-S03: ").split(" → ")
    assert before.startswith(f"{gone}, ")
    assert after.startswith(f"{ANOTHER}, ")
    assert row == f"| L001-S03 | {before} | {after} |"


def test_difficulties_have_one_decimal_unless_it_would_hide_the_difference() -> None:
    def to(target: float) -> str:
        [change] = against(lambda d: stage(d)["difficulty"].update(target=target)).of(Kind.target)
        return change.new

    target = stage(load())["difficulty"]["target"]
    assert to(40) == "40.0"
    assert to(23.636) == "23.6"
    assert to(target + 0.001) == f"{target + 0.001:.3f}"
    assert "difficulty 27.0 (" in against(_shift_and_replace).of(Kind.replaced)[0].new


@pytest.mark.parametrize("change", [_shift_and_replace, _swap_stages, _remove_first, _other_counts, _other_level])
def test_markdown_tells_what_the_text_tells(change: Change) -> None:
    difference = against(lambda document: (change(document), document.update(title="Later", withdrawn=[OTHER])))
    text = list(written(difference, DiffFormat.text))
    markdown = list(written(difference, DiffFormat.markdown))
    assert markdown[0] == text[0]
    titles = [line.removeprefix("### ") for line in markdown if line.startswith("### ")]
    assert titles == [line for line in text[1:] if line and not line.startswith("  ")]
    heads = 2 * len(titles)  # the names of the columns and the rule below them
    assert len([line for line in markdown if line.startswith("|")]) == heads + len(difference.changes)


def test_a_table_names_the_key_and_leaves_out_columns_in_which_nothing_stands() -> None:
    lines = list(written(against(lambda d: d["generator"].update(version="9.9", mark=1)), DiffFormat.markdown))
    assert lines[-4:] == [
        "| key | before | after |",
        "| --- | --- | --- |",
        "| generator.mark | nothing | 1 |",
        '| generator.version | "0.1.0" | "9.9" |',
    ]


@given(st.permutations(range(9)))
def test_what_keeps_its_order_is_a_longest_rising_run(numbers: list[int]) -> None:
    kept = [numbers[position] for position in reversed(_longest_rise(numbers))]
    assert kept == sorted(kept)
    longest = [1] * len(numbers)
    for i, number in enumerate(numbers):
        longest[i] = 1 + max((longest[j] for j in range(i) if numbers[j] < number), default=0)
    assert len(kept) == max(longest)


# --------------------------------------------------------------------------------------------------- the command line


def test_exit_codes_are_those_of_diff(command: Command, tmp_path: Path) -> None:
    later = write(changed(load(), lambda d: d.update(title="Later")), tmp_path / "later.json")
    assert command("diff", VEYRA, VEYRA).code == 0
    assert command("diff", VEYRA, VEYRA).out == "golden-veyra version 1: no difference.\n"
    assert command("diff", VEYRA, later).code == 1
    assert command("diff", VEYRA, NARROW).code == 1
    assert command("diff", VEYRA, tmp_path / "none").complaint.endswith(
        "none: cannot be read: No such file or directory"
    )


def test_the_three_formats(command: Command, tmp_path: Path) -> None:
    def change(document: Document) -> None:
        document["title"] = "a|b\n<b>*"
        _other_counts(document)

    later = write(changed(load(), change), tmp_path / "later.json")
    text = command("diff", VEYRA, later).out
    assert "Difficulty shifted beyond noise (1)\n  L002-S03 p-" in text
    markdown = command("diff", VEYRA, later, "--format", "markdown").out
    assert "### Everything else (1)" in markdown
    assert "a\\|b\\\\n\\<b\\>\\*" in markdown
    found = json.loads(command("diff", VEYRA, later, "--format", "json").out)
    assert (found["same"], [change["kind"] for change in found["changes"]]) == (False, ["difficulty", "header"])
