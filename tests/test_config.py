"""The config: what is filled in, what is refused and in which words, and what its hash covers."""

import json
from pathlib import Path

import pytest

from number_match.config import Config
from number_match.config_files import load
from number_match.errors import UserError

SMALL = """
[generate]
candidates = 40
[[generate.families]]
name = "a"
cells = [6, 9]
[score]
panel = ["random"]
reference = "random"
[assemble]
levels = 2
stages = 3
"""


def config(tmp_path: Path, text: str = "", *settings: str) -> Config:
    """The small config with more lines after it and settings over it."""
    path = tmp_path / "made.toml"
    path.write_text(SMALL + text, encoding="utf-8")
    return load([path], settings)


def refusal(tmp_path: Path, *settings: str, text: str = "") -> str:
    with pytest.raises(UserError) as caught:
        config(tmp_path, text, *settings)
    return str(caught.value)


def test_every_config_of_the_project_is_accepted() -> None:
    configs = sorted((Path(__file__).parents[1] / "configs").glob("*.toml"))
    assert {path.stem for path in configs} >= {"release", "smoke"}
    for path in configs:
        load([path])


def test_defaults_are_filled_in_and_a_number_stands_for_a_range(tmp_path: Path) -> None:
    made = config(tmp_path, "", "rules.adds=3", "generate.families.0.cells=8")
    assert made.rules.adds == (3, 3)
    assert made.generate.families[0].sizes == (8,)
    assert made.validation.node_budget == 1_000_000


def test_later_files_and_settings_lie_over_earlier_ones(tmp_path: Path) -> None:
    first, second = tmp_path / "a.toml", tmp_path / "b.toml"
    first.write_text(SMALL, encoding="utf-8")
    second.write_text("seed = 5\n[assemble]\nstages = 4\n", encoding="utf-8")
    made = load([first, second], ["assemble.stages=5", "assemble.curve.kind=sawtooth", "pack.title=12"])
    assert (made.seed, made.assemble.levels, made.assemble.stages) == (5, 2, 5)
    assert made.assemble.curve.kind == "sawtooth"
    assert made.pack.title == "12"  # the model says text, and text it is


def test_a_resolved_config_reads_back_from_run_json(tmp_path: Path) -> None:
    made = config(tmp_path, "", "assemble.constraints.slack=1")
    record = tmp_path / "run.json"
    record.write_text(json.dumps({"config": made.resolved()}), encoding="utf-8")
    again = load([record])
    assert again == made
    assert again.hash() == made.hash()


def test_a_player_of_the_panel_needs_only_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "made.toml"
    path.write_text('[[generate.families]]\nname = "a"\ncells = 30\n', encoding="utf-8")
    plain, changed = load([path]), load([path], ["score.players.casual.temperature=0.75"])
    assert changed.score.players["casual"].temperature == 0.75
    assert changed.score.players["casual"].row == plain.score.players["casual"].row
    assert list(changed.score.players) == list(plain.score.players)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("generate.candidats=3", ["generate.candidats", "unknown key", "candidates"]),
        ("generate.families.0.cels=3", ["generate.families[0].cels", "unknown key", "cells"]),
        ("generate.candidates=many", ["generate.candidates", '"many"', "expected a whole number"]),
        ("generate.candidates=-3", ["generate.candidates", "-3", "from 0 to"]),
        ("generate.candidates=true", ["generate.candidates", "true", "expected a whole number"]),
        ("generate.candidates=2", ["generate.candidates", "2", "assemble.levels", "6 Stages"]),
        ("generate.families.0.cells=[9, 6]", ["generate.families[0].cells", "[9, 6]", "low at most high"]),
        ("rules.ruleset=chess", ["rules.ruleset", '"chess"', "veyra-1"]),
        ("rules.adds=[0, 99]", ["rules.adds", "99", "from 0 to 20"]),
        ("assemble.adds=[1, 9]", ["assemble.adds", "[1, 9]", "rules.adds = [1, 5]"]),
        ("assemble.constraints.slack=9", ["assemble.constraints.slack", "9", "rules.adds = [1, 5]"]),
        ("assemble.curve.kind=zigzag", ["assemble.curve.kind", '"zigzag"', "sawtooth"]),
        ("assemble.curve.start=101", ["assemble.curve.start", "101", "from 0 to 100"]),
        ("assemble.curve.start=1.00001", ["assemble.curve.start", "1.00001", "four decimals"]),
        ("assemble.curve={kind='list', values=[1, 2]}", ["assemble.curve.values", "2 values", "6 Stages"]),
        ("assemble.families=['b']", ["assemble.families[0]", '"b"', "generate.families (a)"]),
        ("assemble.level=[{level=3}]", ["assemble.level[0].level", "3", "assemble.levels = 2"]),
        ("assemble.pin.L001-S01=12x", ["assemble.pin.L001-S01", '"12x"', "expected a board"]),
        ("assemble.pin.first=12", ["assemble.pin", "first"]),
        ("score.reference=nobody", ["score.reference", '"nobody"', "expected a player"]),
        ("score={panel=['nobody'], reference='nobody'}", ["score.panel[0]", '"nobody"', "expected a player"]),
        ("score.calibration.points=[[0, 0], [99.9999, 5], [100, 9]]", ["score.calibration.points", "rise", "0.001"]),
        ("score.select.most=1", ["score.select.most", "1", "at least playouts = 6000"]),
        ("seed=9007199254740992", ["seed", "9007199254740992", "from 0 to"]),
        ("run.workers=0", ["run.workers", "0", "from 1 to"]),
    ],
)
def test_what_is_wrong_is_named_with_key_value_and_expectation(tmp_path: Path, setting: str, words: list[str]) -> None:
    message = refusal(tmp_path, setting)
    assert len(message.splitlines()) == 1
    for word in words:
        assert word in message


def test_the_file_that_is_wrong_is_named(tmp_path: Path) -> None:
    assert str(tmp_path / "made.toml") in refusal(tmp_path, text="[validate]\nnode_budget = 0\n")
    assert "--set seed=-1" in refusal(tmp_path, "seed=-1")


def test_the_argument_that_caused_a_contradiction_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, "assemble.stages=500")
    assert message.startswith("--set assemble.stages=500: generate.candidates is 40: expected enough")
    message = refusal(tmp_path, "rules.adds=[2, 3]", text="adds = [1, 2]\n")
    assert message.startswith("--set rules.adds=[2, 3]: assemble.adds is [1, 2]: expected a range within rules.adds")


def test_files_that_contradict_one_another_are_both_named(tmp_path: Path) -> None:
    first, second = tmp_path / "a.toml", tmp_path / "b.toml"
    first.write_text(SMALL, encoding="utf-8")
    second.write_text("[assemble]\nstages = 500\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load([first, second])
    assert str(caught.value).startswith(f"{first} and {second}: generate.candidates is 40")


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    message = refusal(tmp_path, "seed=-1", "pack.title=", "score.panel=[]", text="method = 'x'\n[generat]\n")
    assert len(message.splitlines()) == 5
    contradictions = refusal(tmp_path, "assemble.stages=500", "assemble.adds=9", "assemble.families=['q']")
    assert len(contradictions.splitlines()) == 3
    broken = refusal(tmp_path, "seed", "=3", "assemble.stages.x=1")
    assert len(broken.splitlines()) == 3


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("[generat]", "generat: unknown key (did you mean generate?)"),
        ("[[generate.family]]\nname = 'a'", "generate.family: unknown key (did you mean families?)"),
        ("[generate]", "generate.families: missing; expected a list of at least 1 item"),
        ("", "generate: missing; expected"),
        ("[[generate.families]]\nname = 'a'", "generate.families[0].cells: missing; expected a number of cells"),
    ],
)
def test_an_empty_or_misspelt_section_is_one_complaint(tmp_path: Path, text: str, first: str) -> None:
    path = tmp_path / "made.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load([path])
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{path}: {first}")


def test_a_setting_that_is_no_toml_is_taken_as_text_or_refused(tmp_path: Path) -> None:
    for setting in ("seed=" + "9" * 5000, "pack.id=" + "[" * 5000, "generate.families.²=1", "seed=1\n2"):
        assert refusal(tmp_path, setting).startswith("--set ")


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "made.toml"
    path.write_text(SMALL, encoding="utf-8-sig")
    assert load([path]).generate.candidates == 40


def test_a_family_that_can_never_give_a_board_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, text='[[generate.families]]\nname = "b"\ncells = 1\nparity = "even"\n')
    assert "generate.families[1].cells" in message
    assert "no board of this family exists" in message


@pytest.mark.parametrize("content", [b"\xff\xfe", b"seed = ", b"seed = 1\nseed = 2"])
def test_what_is_not_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"bad\.toml: expected"):
        load([path])


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.toml: cannot be read"):
        load([tmp_path / "none.toml"])


def test_the_hash_leaves_out_how_a_run_works_and_takes_in_what_files_hold(tmp_path: Path) -> None:
    boards = tmp_path / "boards.txt"
    boards.write_text("1111\n", encoding="utf-8")
    family = '[[generate.families]]\nname = "hand"\nfile = "boards.txt"\n'
    first = config(tmp_path, family).hash()
    assert config(tmp_path, family, "run.workers=3", "run.out=elsewhere").hash() == first
    assert config(tmp_path, family, "seed=2").hash() != first
    boards.write_text("2222\n", encoding="utf-8")
    assert config(tmp_path, family).hash() != first


def test_names_of_files_are_relative_to_the_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "boards.txt").write_text("1111\n", encoding="utf-8")
    made = config(tmp_path, '[[generate.families]]\nname = "hand"\nfile = "boards.txt"\n')
    monkeypatch.chdir("/")
    assert Path(str(made.generate.families[1].file)).read_text(encoding="utf-8") == "1111\n"
