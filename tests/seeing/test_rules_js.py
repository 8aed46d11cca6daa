"""The rules of the page, in a browser, against the golden data and against rules.py."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error

from number_match import preview
from number_match.rules import Board, IllegalAction, Ruleset, class_counts, legal_actions, named, reduced_word

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
NAMES = ["checkPerft", "checkPositions", "checkGames", "intervals"]

Call = Callable[[str, Any], Any]


def rules_of(ruleset: Ruleset) -> dict[str, Any]:
    return {name: getattr(ruleset, name) for name in ("width", "row", "column", "diagonal", "wrap")}


@pytest.fixture(scope="module")
def load(chromium: Browser) -> Iterator[Callable[[str], Call]]:
    """Put the page's rules, as they are or changed, into an empty page; gives a function that calls into it."""
    context = chromium.new_context()

    def loaded(script: str) -> Call:
        page = context.new_page()
        body = f"{script}\n{(HERE / 'checks.js').read_text('utf-8')}\nreturn {{ {', '.join(NAMES)} }};"
        page.evaluate(f"globalThis.rules = (() => {{ {body} }})()")
        return lambda name, argument: page.evaluate(f"(argument) => globalThis.rules.{name}(argument)", argument)

    yield loaded
    context.close()


@pytest.fixture(scope="module")
def script() -> str:
    return preview.modules(("rules.js", "game.js"))


@pytest.fixture(scope="module")
def rules(load: Callable[[str], Call], script: str) -> Call:
    return load(script)


def perft_rows() -> list[dict[str, Any]]:
    rows = []
    for path in sorted((DATA / "perft").glob("*.perft")):
        ruleset = (
            Ruleset.parse(path.stem) if path.stem in ("no-diagonal", "no-wrap", "width-5", "width-7") else Ruleset()
        )
        board = Board(())
        for line in path.read_text().splitlines():
            key, _, rest = line.partition(" ")
            if key == "board":
                board = Board.parse(rest, ruleset)
            elif key == "perft":
                depth, count, checksum = rest.split()
                rows.append({"board": board.text, "adds": board.adds, "ruleset": rules_of(ruleset), "depth": int(depth),
                             "count": int(count), "checksum": checksum})  # fmt: skip
    return rows


def position_rows() -> list[dict[str, Any]]:
    """The rows of positions.tsv that are about the rules; clearable and unclearable are the solver's."""
    rows = []
    for line in (DATA / "positions.tsv").read_text().splitlines()[1:]:
        width, board, check, expected = line.split("\t")
        if check not in ("clearable", "unclearable"):
            ruleset = rules_of(named(width=int(width)))
            rows.append({"board": board, "ruleset": ruleset, "check": check, "expected": expected})
    return rows


def test_the_golden_perft_files_hold_in_the_browser(rules: Call) -> None:
    rows = perft_rows()
    assert len(rows) == 289
    assert rules("checkPerft", rows) == []


def test_the_golden_positions_hold_in_the_browser(rules: Call) -> None:
    rows = position_rows()
    assert len(rows) == 99
    assert rules("checkPositions", rows) == []


def random_game(draw: random.Random) -> dict[str, Any]:
    """A random game under a random ruleset, described step by step by rules.py."""
    width = draw.choice((9, 9, 9, 1, 2, 3, 4, 5, 7, 12))
    off = {link: draw.random() < 0.85 for link in ("row", "column", "diagonal", "wrap")}
    ruleset = named(width=width, **off)
    digits = draw.choice(("123456789", "1928", "55.37", "123456789..", "19....28"))
    cells = "".join(draw.choice(digits) for _ in range(draw.randint(1, 30)))
    text = "/".join(cells[start : start + width] for start in range(0, len(cells), width))
    board = start = Board.parse(f"{text} +{draw.randint(0, 2)}", ruleset)
    steps = [described(board, None, draw)]
    while len(steps) < 40 and (actions := list(legal_actions(board))):
        pairs = [action for action in actions if action != "+"]
        action = draw.choice(pairs) if pairs and draw.random() < 0.9 else draw.choice(actions)
        board = board.play(action)
        steps.append(described(board, action, draw))
    return {"ruleset": rules_of(ruleset), "board": start.text, "adds": start.adds, "steps": steps}


def described(board: Board, action: str | None, draw: random.Random) -> dict[str, Any]:
    """Everything that rules.js says about a board, said by rules.py; with reasons for some couples of cells."""
    cells, pairs = len(board.cells), board.pairs()
    couples = [sorted(draw.sample(range(cells), 2)) for _ in range(3)] if cells > 1 else []
    return {
        "action": action,
        "board": str(board),
        "pairs": [f"{i}-{j}" for i, j in pairs],
        "links": [",".join(board.links(i, j)) for i, j in pairs],
        "classes": list(class_counts(board)),
        "word": list(reduced_word(board)),
        "reasons": [[i, j, reason(board, i, j)] for i, j in couples],
        "stuck": board.stuck,
        "cleared": board.cleared,
    }


def reason(board: Board, i: int, j: int) -> str:
    """Why i-j is no pair by rules.py's own message, as short as checks.js has it."""
    try:
        board.play(f"{i}-{j}")
    except IllegalAction as error:
        text = str(error)
        if "is a hole" in text:
            return "hole"
        if "neither equal" in text:
            return "match"
        return "; ".join(f"{k} {link}" for k, link in re.findall(r"at (\d+) blocks the (\w+)", text)) or "apart"
    return ""


def test_a_thousand_random_games_go_alike_in_the_browser_and_in_rules_py(rules: Call) -> None:
    draw = random.Random(20261130)
    games = [random_game(draw) for _ in range(1000)]
    steps = [step for game in games for step in game["steps"]]
    reasons = {why for step in steps for *_, why in step["reasons"]}
    assert len(steps) > 5000, "the games are long enough to mean something"
    assert sum(step["cleared"] for step in steps) > 50
    assert sum(step["stuck"] for step in steps) > 50
    assert {"", "hole", "match", "apart"} < reasons
    assert rules("checkGames", games) == []


PLANTED = {
    "diagonals leak round the edge": ("column >= 0 && column < width && j", "j"),
    "the other diagonal is forgotten": ("[1, -1]", "[1]"),
    "equal digits only": ("a === b || a + b === 10", "a === b"),
    "a wrap over an active cell": ("cells.slice(i + 1, rowEnd).every((digit) => !digit)", "true"),
    "a column through active cells": ("if (cell === j) return null;", "return null;"),
    "a pair counted twice": ("[...new Set(near)]", "near"),
    "only one of two rows collapses": ("return rows.filter(", "return rows.slice(0, 1).filter("),
    "an Add that forgets its holes": ("[...board.cells, ...activeCells", "[...activeCells(board), ...activeCells"),
    "an Add for nothing": ("adds: board.adds - 1", "adds: board.adds"),
    "empty rows stay when parsed": ("filter((row) => /[1-9]/.test(row))", "filter(Boolean)"),
}  # fmt: skip


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(load: Callable[[str], Call], script: str, bug: str) -> None:
    right, wrong = PLANTED[bug]
    assert script.count(right) == 1, "the line to break is there, once"
    broken = load(script.replace(right, wrong))
    try:
        found = broken("checkPositions", position_rows()) or broken("checkPerft", perft_rows())
    except Error:  # a wrong board under an action that was legal
        return
    assert found


def test_intervals_are_those_of_simulate(rules: Call) -> None:
    simulate = pytest.importorskip("number_match.simulate")
    counts = [(0, 10), (10, 10), (3, 7), (8300, 10000), (1, 10000), (9999, 10000)]
    for count, interval in zip(counts, rules("intervals", counts), strict=True):
        assert interval == pytest.approx(simulate.wilson(*count), abs=1e-12), count
