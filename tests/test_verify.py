"""Packs checked from nothing but themselves: clean ones are clean, and every break is found and named rightly."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from breaking import NARROW, VEYRA, Change, Document, changed, load, puzzle, stage, write
from conftest import DATA, Command
from number_match import verify_full
from number_match.findings import RULES, Finding, Place
from number_match.models import client_pack, pack_text, read_any, read_pack
from number_match.rules import Board
from number_match.verify import verify

GOLDEN = pytest.mark.parametrize("path", [VEYRA, NARROW], ids=["veyra", "narrow"])


@GOLDEN
def test_a_golden_pack_is_clean_at_the_quick_level(path: Path) -> None:
    verdict = verify(path)
    assert [str(finding) for finding in verdict.findings] == []
    assert (verdict.checked, verdict.exit_code, len(verdict.stages)) == ("quick", 0, 6)


@GOLDEN
def test_a_golden_pack_is_clean_at_the_full_level_with_any_number_of_workers(path: Path) -> None:
    for workers in (1, 3):
        verdict = verify(path, full=True, workers=workers)
        assert [str(finding) for finding in verdict.findings] == []
        assert (verdict.checked, verdict.notes) == ("full", ())


def test_the_golden_packs_are_of_two_kinds_of_ruleset() -> None:
    assert read_pack(VEYRA).ruleset.rules() != read_pack(NARROW).ruleset.rules()


def test_the_example_of_the_design_is_clean() -> None:
    assert verify(DATA / "example.pack.json").findings == ()


# ------------------------------------------------------------------------------------------------------ broken copies


def _swap_levels(document: Document) -> None:
    document["levels"].reverse()


def _swap_digits(document: Document) -> None:
    """Two unequal digits of the first board changed places."""
    text = puzzle(document)["board"]
    i = next(i for i in range(1, len(text)) if text[i] != text[0] and text[i].isdigit())
    puzzle(document)["board"] = text[i] + text[1:i] + text[0] + text[i + 1 :]


def _renamed_copy(document: Document) -> None:
    """The second puzzle becomes the first with 1 and 9 exchanged: another board, the same puzzle."""
    from number_match.identity import canonical_id, puzzle_id

    board = Board.parse(puzzle(document)["board"].translate(str.maketrans("1928", "9182")))
    stage(document, 1).update(puzzle=puzzle_id(board), solution=stage(document)["solution"], adds=3)
    puzzle(document, 1).update(
        id=puzzle_id(board),
        board=board.text,
        canonical=canonical_id(board),
        min_adds=puzzle(document)["min_adds"],
        par=puzzle(document)["par"],
    )


def _early_pass(document: Document) -> None:
    """A player passes within fewer Adds than the board needs."""
    for number, one in enumerate(document["puzzles"]):
        if one["min_adds"]["lower"]:
            stage(document, number)["difficulty"]["players"]["casual"]["passed"][0] = 5
            return
    raise AssertionError("no puzzle of the golden pack needs an Add")


def _even_without_add(document: Document) -> None:
    one = next(one for one in document["puzzles"] if one["min_adds"]["lower"])
    one["min_adds"]["lower"] = 0
    one["par"] = None


def _shift(document: Document) -> None:
    """What a changed player does: a pass rate 20 points off, with everything that follows from it set right."""
    counts = stage(document, 2)["difficulty"]["players"]["expert"]
    counts["passed"][-1] -= 400 if counts["passed"][-1] > 1000 else -400


BREAKS: list[tuple[str, Change, str]] = [
    ("a digit exchanged", _swap_digits, "puzzle-id"),
    ("a digit changed", lambda d: puzzle(d).update(board="5" + puzzle(d)["board"][1:]), "puzzle-id"),
    ("an id made up", lambda d: [x.update(id="p-" + "0" * 20) for x in (puzzle(d),)], "puzzle-id"),
    ("a canonical id of another puzzle", lambda d: puzzle(d).update(canonical=puzzle(d, 1)["canonical"]), "canonical"),
    ("a duplicate by renaming", _renamed_copy, "duplicate"),
    ("a row that is too long", lambda d: puzzle(d).update(board=puzzle(d)["board"].replace("/", "")), "board"),
    ("a dangling reference", lambda d: stage(d, 3).update(puzzle="p-" + "f" * 20), "puzzle-reference"),
    ("a puzzle used twice", lambda d: stage(d, 3).update(puzzle=stage(d, 2)["puzzle"]), "puzzle-used-once"),
    ("puzzles out of order", lambda d: d["puzzles"].reverse(), "puzzle-order"),
    ("a withdrawn puzzle", lambda d: d["withdrawn"].append(puzzle(d, 4)["id"]), "withdrawn"),
    ("Levels exchanged", _swap_levels, "target"),
    ("a Stage id of another place", lambda d: stage(d, 1).update(id="L001-S09"), "stage-id"),
    ("a Level id twice", lambda d: d["levels"][1].update(id=d["levels"][0]["id"]), "level-id"),
    ("a solution cut short", lambda d: stage(d)["solution"].pop(), "solution"),
    ("a solution with a wrong action", lambda d: stage(d)["solution"].__setitem__(0, "0-1"), "solution"),
    ("a solution with an Add too many", lambda d: stage(d)["solution"].insert(0, "+"), "solution"),
    ("an allowance under min Adds", lambda d: [stage(d, n).update(adds=0) for n in range(6)], "allowance"),
    ("an allowance beyond what was measured", lambda d: stage(d).update(adds=4), "allowance"),
    ("min Adds above the solution's", lambda d: puzzle(d)["min_adds"].update(lower=2, upper=2), "min-adds"),
    ("min Adds below parity", _even_without_add, "min-adds"),
    ("bounds that cross", lambda d: puzzle(d)["min_adds"].update(lower=3), "min-adds"),
    ("par under half the cells", lambda d: puzzle(d)["par"].update(lower=1), "par"),
    ("par above the solution's", lambda d: puzzle(d)["par"].update(upper=99), "par"),
    ("no par", lambda d: puzzle(d).update(par=None), "par"),
    ("counts above the playouts", lambda d: stage(d)["difficulty"]["players"]["expert"].update(playouts=7), "counts"),
    ("a pass below min Adds", _early_pass, "counts"),
    ("a player left out", lambda d: stage(d)["difficulty"]["players"].pop("expert"), "panel"),
    ("a score that flatters", lambda d: stage(d, 5)["difficulty"].update(score=1.0), "score"),
    ("a band one up", lambda d: stage(d)["difficulty"].update(band="expert"), "band"),
    ("thresholds moved", lambda d: d["scoring"]["bands"][1].update({"from": 1.0}), "band"),
    ("bands that do not rise", lambda d: d["scoring"]["bands"].reverse(), "bands"),
    ("another reference player", lambda d: d["scoring"].update(reference="expert"), "score"),
    ("a target off the curve", lambda d: stage(d, 4)["difficulty"].update(target=44.0), "target"),
    ("another curve", lambda d: d["assembly"]["curve"].update(end=51.0), "target"),
    ("a Stage left out", lambda d: d["levels"][1]["stages"].pop(), "assembly"),
    ("another ruleset", lambda d: d["ruleset"].update(diagonal=False), "ruleset-name"),
    ("another ruleset of no name", lambda d: d["ruleset"].update(id="own", diagonal=False), "puzzle-id"),
]


@pytest.mark.parametrize(("change", "rule"), [(c, r) for _, c, r in BREAKS], ids=[name for name, _, _ in BREAKS])
def test_a_break_is_found_and_named(tmp_path: Path, change: Change, rule: str) -> None:
    verdict = verify(write(changed(load(), change), tmp_path / "broken.pack.json"))
    assert rule in {finding.rule for finding in verdict.broken}
    assert "content-hash" not in {finding.rule for finding in verdict.broken}
    for finding in verdict.broken:
        assert finding.pack.endswith("broken.pack.json")
        assert finding.found != finding.expected


def test_a_change_without_a_new_hash_is_found(tmp_path: Path) -> None:
    document = load()
    document["title"] = "Another"
    finding = verify(write(document, tmp_path / "x.pack.json")).broken[0]
    assert (finding.rule, finding.found) == ("content-hash", document["content_hash"])


def test_all_findings_are_listed_and_say_where(tmp_path: Path) -> None:
    def change(document: Document) -> None:
        for number in (0, 2, 5):
            stage(document, number)["difficulty"]["score"] = 99.0
        puzzle(document, 1)["canonical"] = "sha256:" + "0" * 64

    findings = verify(write(changed(load(), change), tmp_path / "x.pack.json")).broken
    assert [finding.stage for finding in findings if finding.rule == "score"] == ["L001-S01", "L001-S03", "L002-S03"]
    assert [finding.puzzle for finding in findings if finding.rule == "canonical"] == [puzzle(load(), 1)["id"]]


def test_every_rule_has_a_break_that_shows_it() -> None:
    shown = {rule for _, _, rule in BREAKS}
    shown |= {"content-hash", "source", "unique-id", "version", "withdrawn-kept", "id-kept"}  # below
    shown |= {"solver", "playouts", "pass-rate"}  # the full level
    assert shown == set(RULES)


def test_a_finding_names_a_rule_that_exists() -> None:
    with pytest.raises(AssertionError):
        Place("x").finding("no-such-rule", 1, 2)


# --------------------------------------------------------------------------------------------------------- full level


FULL_BREAKS: list[tuple[str, Change, str]] = [
    ("counts made up", _shift, "playouts"),
    ("a seed made up", lambda d: d["scoring"].update(seed=99), "playouts"),
    ("a player made stronger", lambda d: d["scoring"]["players"]["expert"].update(row=0.1), "playouts"),
    ("a player that nobody can play", lambda d: d["scoring"]["players"]["expert"].update(row="9"), "panel"),
]


@pytest.mark.parametrize(("change", "rule"), [b[1:] for b in FULL_BREAKS], ids=[b[0] for b in FULL_BREAKS])
def test_what_arithmetic_cannot_see_is_found_by_playing_again(tmp_path: Path, change: Change, rule: str) -> None:
    path = write(changed(load(), change), tmp_path / "x.pack.json")
    assert rule not in {finding.rule for finding in verify(path).broken}
    assert rule in {finding.rule for finding in verify(path, full=True, workers=2).broken}


def test_another_bound_than_the_same_solver_finds_is_a_finding_and_under_another_solver_a_note(tmp_path: Path) -> None:
    """A lower bound of par that is right, and weaker than what the solver proves."""
    same = changed(load(), lambda d: puzzle(d)["par"].update(lower=puzzle(d)["par"]["lower"] - 1))
    other = changed(same, lambda d: d["solver"].update(behaviour=d["solver"]["behaviour"] + 1))
    found = verify(write(same, tmp_path / "same.pack.json"), full=True)
    noted = verify(write(other, tmp_path / "other.pack.json"), full=True)
    assert [(finding.rule, finding.stage) for finding in found.broken] == [("solver", "L001-S01")]
    assert noted.broken == ()
    assert [(finding.rule, finding.stage) for finding in noted.findings] == [("solver", "L001-S01")]
    assert any("solver behaviour" in note for note in noted.notes)


def test_disjoint_bounds_are_a_finding_whatever_the_solver(tmp_path: Path) -> None:
    """A pack that says an Add is needed where none is: plausible to arithmetic, disjoint to the solver."""
    document = load(NARROW)
    number = next((n for n, one in enumerate(document["puzzles"]) if one["min_adds"]["upper"] == 0), None)
    assert number is not None, "the narrow golden pack has a puzzle that needs no Add"
    board = Board.parse(puzzle(document, number)["board"], read_pack(NARROW).ruleset.rules())

    def lie(d: Document) -> None:
        d["solver"]["behaviour"] += 1
        solution = ["+", *_clear(board.with_adds(1).play("+"))]
        puzzle(d, number)["min_adds"] = {"lower": 1, "upper": 1}
        puzzle(d, number)["par"] = {"lower": len(solution) - 1, "upper": len(solution) - 1}
        stage(d, number)["solution"] = solution
        for counts in stage(d, number)["difficulty"]["players"].values():
            counts["passed"][0] = 0

    path = write(changed(document, lie), tmp_path / "x.pack.json")
    assert [f for f in verify(path).broken if f.rule != "score"] == []
    assert "solver" in {finding.rule for finding in verify(path, full=True).broken}


def _clear(board: Board) -> list[str]:
    """A clear of a board that has one without Adds."""
    from number_match.solve import solve

    solution = solve(board).solution
    assert solution is not None
    return list(solution)


def test_under_another_scoring_behaviour_a_shift_is_found_again_and_again_and_chance_is_not(tmp_path: Path) -> None:
    def other(document: Document) -> None:
        document["scoring"]["behaviour"] += 1

    fair = verify(write(changed(load(), other), tmp_path / "fair.pack.json"), full=True)
    assert fair.broken == ()
    assert "is found with 95% power" in " ".join(fair.notes)

    def shifted(document: Document) -> None:
        other(document)
        one = stage(document, 5)
        counts = one["difficulty"]["players"]["expert"]
        adds = one["adds"]
        counts["passed"][adds] += -400 if counts["passed"][adds] > 1000 else 400

    path = write(changed(load(), shifted), tmp_path / "shifted.pack.json")
    runs = [verify(path, full=True).broken for _ in range(2)]
    assert [(finding.rule, finding.stage) for finding in runs[0]] == [("pass-rate", "L002-S03")]
    assert runs[0] == runs[1]


def test_the_full_level_solves_without_a_look_at_the_stored_solution(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Board] = []
    from number_match import solve as door

    real = door.solve

    def watched(board: Board, **rest: Any) -> door.SolveResult:
        asked.append(board)
        return real(board, **rest)

    monkeypatch.setattr(door, "solve", watched)
    verify_full.again(read_pack(VEYRA), "x")
    assert [board.text for board in asked] == [one["board"] for one in load()["puzzles"]]


# ---------------------------------------------------------------------------------------------- beside other files


def _findings(path: Path, **against: object) -> list[tuple[str, str]]:
    return [(finding.rule, finding.puzzle) for finding in verify(path, **against).broken]  # type: ignore[arg-type]


def test_a_client_file_is_checked_at_a_reduced_level_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "pack.client.json"
    path.write_text(pack_text(client_pack(read_pack(VEYRA))), "utf-8")
    verdict = verify(path)
    assert (verdict.checked, verdict.findings) == ("client", ())
    assert "no solutions" in verdict.notes[0]


def test_a_client_file_is_held_against_its_pack(tmp_path: Path) -> None:
    pack = read_pack(VEYRA)
    path = tmp_path / "pack.client.json"
    path.write_text(pack_text(client_pack(pack)), "utf-8")
    assert _findings(path, against=pack) == []
    document = changed(json.loads(path.read_bytes()), lambda d: stage(d, 1).update(adds=3 - stage(d, 1)["adds"] % 2))
    (finding,) = [f for f in verify(write(document, path), against=pack).broken if f.rule == "source"]
    assert finding.found.startswith("levels[0].stages[1].adds ")
    assert ("source", "") in _findings(path, against=read_pack(NARROW))
    full = verify(path, against=pack, full=True)
    assert full.checked == "full, against its pack"


def test_a_client_file_and_its_pack_are_one_release(command: Command, tmp_path: Path) -> None:
    pack = read_pack(VEYRA)
    client = tmp_path / "c.json"
    client.write_text(pack_text(client_pack(pack)), encoding="utf-8")
    assert verify(VEYRA, baseline=read_any(client)).findings == ()
    assert verify(client, baseline=pack).findings == ()
    other = pack_text(client_pack(pack.model_copy(update={"title": "other"})))
    client.write_text(other, encoding="utf-8")
    assert command("verify", client, "--baseline", VEYRA).code == 0  # its source_hash still says that it is of the pack
    assert "not a client file" in command("verify", VEYRA, "--against", VEYRA).out


def test_an_older_release_is_kept_to(tmp_path: Path) -> None:
    old = read_any(VEYRA)
    gone = puzzle(load())["id"]
    assert _findings(VEYRA, baseline=old) == []
    later = write(changed(load(), lambda d: d.update(title="Later")), tmp_path / "later.pack.json")
    assert _findings(later, baseline=old) == [("version", "")]
    other_id = "p-" + "a" * 20
    before = write(
        changed(load(), lambda d: d.update(withdrawn=[other_id], pack_version=1)), tmp_path / "before.pack.json"
    )
    newer = write(changed(load(), lambda d: d.update(pack_version=2)), tmp_path / "newer.pack.json")
    assert _findings(newer, baseline=read_any(before)) == [("withdrawn-kept", other_id)]
    before = write(changed(load(), lambda d: d.update(withdrawn=[gone])), tmp_path / "before.pack.json")
    assert ("withdrawn", gone) in _findings(newer, baseline=read_any(before))


def test_an_id_that_changed_its_meaning_is_found(tmp_path: Path) -> None:
    def change(document: Document) -> None:
        _swap_digits(document)
        document["pack_version"] = 2

    newer = write(changed(load(), change), tmp_path / "newer.pack.json")
    assert ("id-kept", puzzle(load())["id"]) in _findings(newer, baseline=read_any(VEYRA))


def test_ids_given_twice_are_found(tmp_path: Path) -> None:
    def twice(document: Document) -> None:
        document["puzzles"].append(puzzle(document))
        document["withdrawn"] = ["p-" + "a" * 20] * 2

    path = write(changed(load(), twice), tmp_path / "x.pack.json")
    assert [rule for rule, _ in _findings(path)].count("unique-id") == 2


# --------------------------------------------------------------------------------------------------- the command line


def test_the_exit_code_is_that_of_the_worst_pack(command: Command, tmp_path: Path) -> None:
    broken = write(changed(load(), lambda d: stage(d)["difficulty"].update(score=1.0)), tmp_path / "broken.pack.json")
    nothing = tmp_path / "nothing.pack.json"
    assert command("verify", VEYRA).code == 0
    assert command("verify", VEYRA, broken).code == 1
    outcome = command("verify", VEYRA, nothing, broken)
    assert outcome.code == 2
    assert outcome.err == f"error: {nothing}: cannot be read: No such file or directory\n"
    assert "broken.pack.json: L001-S01" in outcome.out


def test_json_output_is_a_line_for_every_pack(command: Command, tmp_path: Path) -> None:
    broken = write(changed(load(), lambda d: stage(d)["difficulty"].update(score=1.0)), tmp_path / "broken.pack.json")
    clean, found = [json.loads(line) for line in command("verify", VEYRA, broken, "--format", "json").out.splitlines()]
    assert (clean["clean"], clean["stages"], clean["findings"]) == (True, 6, [])
    (finding,) = [one for one in found["findings"] if one["rule"] == "score"]
    assert Finding(**finding).stage == "L001-S01"


def test_junit_output_is_a_case_for_every_stage(command: Command, tmp_path: Path) -> None:
    title = "<script>&\x07 \u202e例"
    change: Change = lambda d: (d.update(title=title), stage(d, 2).update(solution=["+"]))  # noqa: E731
    broken = write(changed(load(), change), tmp_path / "broken.pack.json")
    out = command("verify", broken, tmp_path / "none.json", "--format", "junit").out
    root = ElementTree.fromstring(out.encode())
    first, second = root.findall("testsuite")
    assert [case.get("name") for case in first.findall("testcase")] == [
        "pack", "L001-S01", "L001-S02", "L001-S03", "L002-S01", "L002-S02", "L002-S03",
    ]  # fmt: skip
    assert (first.get("tests"), first.get("failures"), second.get("errors")) == ("7", "1", "1")
    (failure,) = root.iter("failure")
    assert "solution" in (failure.text or "")


def test_github_output_is_an_annotation_for_every_finding(command: Command, tmp_path: Path) -> None:
    broken = write(changed(load(), lambda d: stage(d)["difficulty"].update(score=1.0)), tmp_path / "a,b:c.pack.json")
    line = next(line for line in command("verify", broken, "--format", "github").out.splitlines() if "score" in line)
    assert line.startswith("::error file=")
    assert "a%2Cb%3Ac.pack.json,title=L001-S01 score::" in line


def test_titles_cannot_steer_a_terminal(command: Command, tmp_path: Path) -> None:
    path = write(changed(load(), lambda d: d.update(title="\x1b[2J\u202eevil\n")), tmp_path / "x.pack.json")
    out = command("verify", path).out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_a_larger_pack_than_allowed_is_refused(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "big.pack.json"
    path.write_bytes(VEYRA.read_bytes() + b" " * 2**20)
    assert "larger than 1048576 bytes" in command("verify", path, "--max-mib", 1).err


# ------------------------------------------------------------------------------------------------------ hostile packs


def _many_actions(document: Document) -> None:
    stage(document).update(adds=9999, solution=["+"] * 2000)


def _wide(document: Document) -> None:
    document["ruleset"].update(id="wide", width=255)


def _huge_assembly(document: Document) -> None:
    document["assembly"].update(levels=10_000, stages=9_999)


@pytest.mark.parametrize("change", [_many_actions, _wide, _huge_assembly])
def test_a_pack_made_to_exhaust_the_verifier_is_refused_soon(tmp_path: Path, change: Change) -> None:
    """Without the guards each of these takes hours or all memory."""
    assert verify(write(changed(load(), change), tmp_path / "x.pack.json")).broken


def test_a_thousand_stages_are_checked_with_a_thousand_replays(tmp_path: Path) -> None:
    """The quick level grows with the pack and no faster: 1,000 Stages, most of them duplicates, all looked at."""
    document = load()

    def many(d: Document) -> None:
        d["levels"] = [
            {
                "id": f"M{number:03}",
                "title": "",
                "stages": [one | {"id": f"M{number:03}-S{place:02}"} for place, one in rows],
            }
            for number in range(1, 168)
            for rows in [[(n + 1, stage(document, n)) for n in range(6)]]
        ]

    verdict = verify(write(changed(document, many), tmp_path / "x.pack.json"))
    assert len(verdict.stages) == 1002
    assert len([finding for finding in verdict.broken if finding.rule == "puzzle-used-once"]) == 996
