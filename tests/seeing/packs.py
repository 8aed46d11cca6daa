"""Packs for the pages to show: real boards with solutions that replay, and figures that are made up."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from number_match.identity import canonical_id, puzzle_id
from number_match.models import Pack, seal
from number_match.rules import VEYRA_1, Board, Ruleset

EXAMPLE_BOARD = "316372222/5516"  # the puzzle of DESIGN.md section 5
EXAMPLE_SOLUTION = ("1-11", "2-12", "0-3", "5-6", "7-8", "9-10", "+", "4-9")
HASH = "sha256:" + "0" * 64


def clear(board: Board, draw: random.Random) -> tuple[str, ...] | None:
    """A solution found by playing at random and adding when stuck, or None after some tries."""
    for _ in range(60):
        position, actions = board, list[str]()
        while pairs := position.pairs():
            actions.append("{}-{}".format(*draw.choice(pairs)))
            position = position.play(actions[-1])
            if not position.pairs() and position.adds and not position.cleared:
                actions.append("+")
                position = position.play("+")
        if position.cleared:
            return tuple(actions)
    return None


def puzzles(
    count: int, *, seed: int, cells: int = 18, ruleset: Ruleset = VEYRA_1
) -> list[tuple[Board, tuple[str, ...]]]:
    """Random boards of so many cells with 4 Adds, each with a solution."""
    draw, found = random.Random(seed), list[tuple[Board, tuple[str, ...]]]()
    while len(found) < count:
        board = Board(tuple(draw.randint(1, 9) for _ in range(cells)), 4, ruleset)
        if board.pairs() and (solution := clear(board, draw)):
            found.append((board, solution))
    return found


def reskinned(board: Board, solution: tuple[str, ...], count: int) -> list[tuple[Board, tuple[str, ...]]]:
    """So many boards with the same solution: d and 10 - d are of one class, and swapped by the bits of a number."""
    places = [at for at, digit in enumerate(board.cells) if digit != 5]
    found = []
    for number in range(count):
        cells = list(board.cells)
        for bit, at in enumerate(places):
            if number >> bit & 1:
                cells[at] = 10 - cells[at]
        found.append((Board(tuple(cells), board.adds, board.ruleset), solution))
    return found


def make_pack(
    stages: list[tuple[Board, tuple[str, ...]]],
    *,
    per_level: int = 4,
    title: str = "A pack to look at",
    level_titles: Sequence[str] = (),
    **fields: Any,
) -> Pack:
    """A sealed pack of these boards, whose allowances are those of the Stages, with made-up figures."""
    draw, ruleset, levels = random.Random(7), stages[0][0].ruleset, list[dict[str, Any]]()
    for number, (board, solution) in enumerate(stages):
        if number % per_level == 0:
            n = len(levels) + 1
            name = level_titles[n - 1] if level_titles else f"Level {n}"
            levels.append({"id": f"L{n:03}", "title": name, "stages": list[dict[str, Any]]()})
        passed = sorted(draw.randint(0, 10000) for _ in range(6))
        score = round(100 * (1 - passed[board.adds] / 10000), 1)
        level = levels[-1]
        level["stages"].append(
            {
                "id": f"{level['id']}-S{len(level['stages']) + 1:02}",
                "puzzle": puzzle_id(board),
                "adds": board.adds,
                "difficulty": {
                    "score": score,
                    "band": "easy" if score < 50 else "hard",
                    "target": float(draw.randint(5, 95)),
                    "players": {
                        "casual": {"passed": passed, "playouts": 10000},
                        "random": {"passed": [count // 2 for count in passed], "playouts": 10000},
                    },
                },
                "solution": solution,
            }
        )
    known = [
        {
            "id": puzzle_id(board),
            "board": board.text,
            "canonical": canonical_id(board),
            "min_adds": {"lower": solution.count("+"), "upper": solution.count("+")},
            "par": {"lower": len(solution) - solution.count("+"), "upper": len(solution) - solution.count("+")},
            "family": "opening",
        }
        for board, solution in stages
    ]
    document = {
        "format": "number-match-pack",
        "format_version": 1,
        "pack_version": 1,
        "pack_id": "example",
        "title": title,
        "content_hash": HASH,
        "ruleset": {"id": ruleset.id, "width": ruleset.width, "row": ruleset.row, "column": ruleset.column,
                    "diagonal": ruleset.diagonal, "wrap": ruleset.wrap},
        "generator": {"name": "number-match-pipeline", "version": "1", "config_hash": HASH, "seed": 1},
        "solver": {"behaviour": 1, "node_budget": 1000},
        "scoring": {"behaviour": 1, "seed": 1, "reference": "casual", "players": {"casual": {}, "random": {}},
                    "bands": [{"name": "easy", "from": 0.0}, {"name": "hard", "from": 50.0}]},
        "assembly": {"curve": {}, "constraints": {}},
        "withdrawn": [],
        "puzzles": known,
        "levels": levels,
    }  # fmt: skip
    return seal(Pack.model_validate(document | fields, strict=False))


def example_pack(**fields: Any) -> Pack:
    """Two Levels: the puzzle of DESIGN.md section 5 and five others."""
    return make_pack(
        [(Board.parse(f"{EXAMPLE_BOARD} +2"), EXAMPLE_SOLUTION), *puzzles(5, seed=2)], per_level=3, **fields
    )
