"""The pack format: what is written reads back, what is hostile is refused in one clear message."""

import json
from pathlib import Path
from typing import Any

import pytest

from number_match import models
from number_match.identity import canonical_id, puzzle_id
from number_match.models import PackError, content_hash, pack_text, parse_pack, read_pack
from number_match.rules import Board, replay

EXAMPLE = Path(__file__).parent / "data" / "example.pack.json"


def example() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(EXAMPLE.read_bytes())
    return document


def text_of(document: object) -> bytes:
    return json.dumps(document).encode()


def refusal(data: bytes) -> str:
    with pytest.raises(PackError) as error:
        parse_pack(data, "x.pack.json")
    message = str(error.value)
    assert all(line.startswith("x.pack.json:") for line in message.splitlines())
    assert len(message) < 4000
    return message


def test_the_example_of_the_design_reads_and_its_solution_clears_the_board_within_the_allowance() -> None:
    pack = read_pack(EXAMPLE)
    stage, puzzle = pack.levels[0].stages[0], pack.puzzles[0]
    board = Board.parse(puzzle.board, pack.ruleset.rules())
    assert (puzzle.id, puzzle.canonical) == (puzzle_id(board), canonical_id(board))
    assert puzzle.id == "p-27a3124563bcfc2930a1"
    assert replay(board.with_adds(stage.adds), stage.solution).cleared
    assert replay(board.with_adds(puzzle.min_adds.upper), stage.solution).cleared
    assert sum(action != "+" for action in stage.solution) == 7


def test_writing_what_was_read_gives_the_same_bytes() -> None:
    assert pack_text(read_pack(EXAMPLE)).encode() == EXAMPLE.read_bytes()


def test_every_puzzle_and_every_stage_has_a_line_of_its_own() -> None:
    lines = pack_text(read_pack(EXAMPLE)).splitlines()
    assert sum('"board"' in line for line in lines) == 1
    assert [line.strip().rstrip(",") for line in lines if '"solution"' in line] == [
        json.dumps(example()["levels"][0]["stages"][0])
    ]


def test_the_hash_is_of_the_canonical_json_without_the_hash_itself() -> None:
    document = example()
    assert document["content_hash"] == content_hash(document)
    assert content_hash({**document, "content_hash": "anything"}) == content_hash(document)
    assert content_hash(dict(reversed(document.items()))) == content_hash(document)
    assert content_hash({**document, "pack_version": 2}) != content_hash(document)


def test_unknown_fields_are_kept_in_the_hash_and_in_what_is_written_back() -> None:
    document = example()
    document["season"] = {"name": "winter", "days": [1, 2.5, None, True]}
    document["levels"][0]["mood"] = "calm"
    document["levels"][0]["stages"][0]["difficulty"]["players"]["casual"]["note"] = "ü"
    pack = parse_pack(text_of(document), "x")
    assert isinstance(pack, models.Pack)
    assert content_hash(models.document_of(pack)) == content_hash(document) != content_hash(example())
    written = pack_text(pack)
    assert json.loads(written) == document
    assert pack_text(parse_pack(written.encode(), "x")) == written


def test_sealing_puts_the_right_hash() -> None:
    pack = read_pack(EXAMPLE).model_copy(update={"title": "Ünïcode — 例 \u202e"})
    sealed = models.seal(pack)
    assert sealed.content_hash != pack.content_hash
    assert content_hash(json.loads(pack_text(sealed))) == sealed.content_hash


def test_the_client_file_has_no_solution_no_counts_and_no_provenance() -> None:
    pack = read_pack(EXAMPLE)
    client = models.client_pack(pack)
    document = json.loads(pack_text(client))
    assert document["source_hash"] == pack.content_hash
    assert document["content_hash"] == content_hash(document) != pack.content_hash
    assert set(example()) - set(document) == {"generator", "solver", "scoring", "assembly"}
    stage = document["levels"][0]["stages"][0]
    assert set(stage) == {"id", "puzzle", "adds", "difficulty"}
    assert set(stage["difficulty"]) == {"score", "band", "target"}
    assert parse_pack(pack_text(client).encode(), "x") == client


def test_a_client_file_is_not_taken_for_a_pack(tmp_path: Path) -> None:
    path = tmp_path / "pack.client.json"
    path.write_text(pack_text(models.client_pack(read_pack(EXAMPLE))))
    with pytest.raises(PackError, match="client file"):
        read_pack(path)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "there is nothing in it"),
        (EXAMPLE.read_bytes()[:700], "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (EXAMPLE.read_bytes().replace(b"First", b"\xff"), "not UTF-8"),
        (b"[1]", "expected a JSON object"),
        (b'{"a": 1, "a": 2}', 'the key "a" stands twice'),
        (b'{"a": [{"b": {}, "b": {}}]}', 'the key "b" stands twice'),
        (b'{"a": NaN}', "NaN is not a number"),
        (b'{"a": -Infinity}', "-Infinity is not a number"),
        (b'{"a": 1e400}', "1e400 is too large"),
        (b'{"a": 9007199254740992}', "below 2^53"),
        (b'{"a": ' + b"9" * 1_000_000 + b"}", "below 2^53"),
        (b'{"a": 0.12345}', "four decimals"),
        (b'{"../../etc/passwd": 1}', "letters, digits, hyphens"),
        (b"[" * 1_000_000, "nested deeper"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "nested deeper"),
        (b"[" + b"[]," * 4_000_000 + b"1]", "more than 4000000 values"),
        (EXAMPLE.read_bytes().replace(b"First", b"\\ud800"), "not JSON"),
        (b"{}", 'format is null, expected "number-match-pack"'),
        (b'{"format": "number-match-pack"}', "format_version is null"),
        (b'{"format": "number-match-pack", "format_version": true}', "format_version is true"),
        (b'{"format": "number-match-pack", "format_version": 2}', "reads versions up to 1"),
        (b'{"format": "number-match-pack", "format_version": 1}', "levels: missing; expected a list"),
    ],
)
def test_what_is_not_a_pack_is_refused_in_words(data: bytes, said: str) -> None:
    assert said in refusal(data)


def changed(path: str, value: object) -> bytes:
    """The example with one value exchanged; `path` is keys and numbers joined by dots."""
    document = example()
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    inner: Any = document
    for part in parents:
        inner = inner[part]
    inner[last] = value
    return text_of(document)


STAGE = "levels.0.stages.0"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("pack_version", "3"),
        ("pack_version", True),
        ("pack_version", 0),
        ("pack_version", 1.5),
        ("pack_id", "../up"),
        ("pack_id", ""),
        ("pack_id", "a" * 65),
        ("title", 7),
        ("title", "a" * 501),
        ("ruleset.width", 0),
        ("ruleset.width", 10**9),
        ("ruleset.row", 1),
        ("generator.seed", 1.5),
        ("generator.seed", "0xG"),
        ("scoring.players", [1]),
        ("scoring.bands", []),
        ("scoring.bands.0.from", "0"),
        ("withdrawn", ["p-1"]),
        ("puzzles.0.board", "316372222\n5516"),
        ("puzzles.0.board", "/" * 1_000_000),
        ("puzzles.0.min_adds", None),
        ("puzzles.0.min_adds.lower", -1),
        ("levels", []),
        ("levels.0.stages", []),
        (f"{STAGE}.id", "a/b"),
        (f"{STAGE}.adds", 10**9),
        (f"{STAGE}.difficulty.score", 100.5),
        (f"{STAGE}.difficulty.players.casual.passed", [0, "1"]),
        (f"{STAGE}.difficulty.players.casual.playouts", 0),
        (f"{STAGE}.solution", ["0-1"] * 1_000_000),
        (f"{STAGE}.solution", ["1_0-2"]),
        (f"{STAGE}.solution", ["٣-4"]),
    ],
)
def test_a_field_of_the_wrong_kind_is_refused_with_its_place(path: str, value: object) -> None:
    place = "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in path.split(".")).lstrip(".")
    message = refusal(changed(path, value))
    assert message.startswith(f"x.pack.json: {place}")


def test_a_file_over_the_cap_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(10 * 2**40)  # sparse: ten tebibytes that nobody could read
    with pytest.raises(PackError, match="larger than 67108864 bytes"):
        read_pack(path)
    with pytest.raises(PackError, match="larger than 100 bytes"):
        read_pack(EXAMPLE, max_bytes=100)
    with pytest.raises(PackError, match="larger than"):
        read_pack("/dev/zero")


@pytest.mark.parametrize("name", ["", "missing.json", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(PackError, match="cannot be read"):
        read_pack(tmp_path / name)


def test_only_so_many_complaints_are_listed() -> None:
    document = example()
    document["withdrawn"] = ["?"] * 1000
    message = refusal(text_of(document))
    assert len(message.splitlines()) == 21
    assert message.endswith("and 980 more")
