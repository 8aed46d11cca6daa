"""Run folders for the report to show: a pack, tables with the columns of tables.py, and figures that are made up."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl

from number_match.identity import canonical_id, puzzle_id
from number_match.models import Pack, pack_text
from number_match.rules import Board
from number_match.store import Store
from number_match.tables import LEVELS, PUZZLES, REJECTIONS, STAGES


def make_run(folder: Path, pack: Pack, *, candidates: int = 60, family: str = "opening") -> Path:
    """Write the folder of a finished run of this pack, with so many candidates beside those used."""
    draw = random.Random(13)
    store = Store(folder)
    store.prepare()
    store.write_text("pack.json", pack_text(pack))
    record = {
        "state": "done",
        "config": {"seed": 1, "pack": {"title": pack.title}},
        "started": "2026-01-01T00:00:00Z",
        "seconds": 61.5,
        "stages": {"generate": {"shards_kept": 1, "shards_made": 3, "boards": 80, "seconds": 1.25, "cpu_seconds": 1.0}},
        "facts": {"gap": 0.0},
    }
    store.write_text("run.json", json.dumps(record))
    puzzles = [_puzzle(draw, family) for _ in range(candidates)]
    used = {stage.puzzle: stage for level in pack.levels for stage in level.stages}
    puzzles += [_puzzle(draw, family, puzzle.board, used[puzzle.id].id) for puzzle in pack.puzzles]
    rejections = [_rejection(draw, family) for _ in range(candidates // 4)]
    stages = [_stage(n, level.id, stage, pack, family) for n, (level, stage) in enumerate(_all(pack), 1)]
    store.write_report("puzzles", pl.DataFrame(puzzles, schema=PUZZLES))
    store.write_report("rejections", pl.DataFrame(rejections, schema=REJECTIONS))
    store.write_report("stages", pl.DataFrame(stages, schema=STAGES))
    levels = [_level(level, [row for row in stages if row["level"] == level.id]) for level in pack.levels]
    store.write_report("levels", pl.DataFrame(levels, schema=LEVELS))
    return folder


def _all(pack: Pack) -> list[tuple[Any, Any]]:
    return [(level, stage) for level in pack.levels for stage in level.stages]


def _puzzle(draw: random.Random, family: str, text: str | None = None, stage: str | None = None) -> dict[str, Any]:
    board = Board.parse(text) if text else Board(tuple(draw.randint(1, 9) for _ in range(draw.choice((18, 27, 36)))))
    first = draw.uniform(40, 100)
    scores = [100.0] + [round(first * 0.7**adds, 1) for adds in range(5)]
    return {
        "puzzle": puzzle_id(board),
        "canonical": canonical_id(board),
        "board": board.text,
        "family": family,
        "number": 0,
        "round": 0,
        "cells": board.active,
        "min_adds_lower": 1,
        "min_adds_upper": 1,
        "par_lower": 20,
        "par_upper": 20,
        "needs_early_add": None,
        "nodes": int(10 ** draw.uniform(1, 5)),
        "playouts": 400,
        "stream": "select" if stage else "screen",
        "scores": scores,
        "stage": stage,
    }


def _rejection(draw: random.Random, family: str) -> dict[str, Any]:
    reason = draw.choice(("duplicate", "unclearable", "undecided"))
    return {
        "puzzle": None,
        "board": "123",
        "family": family,
        "number": 1,
        "round": 0,
        "cells": draw.choice((18, 27, 36)),
        "reason": reason,
        "detail": "",
        "verdict": None if reason == "duplicate" else reason,
        "nodes": 1000 if reason != "duplicate" else None,
    }


def _stage(number: int, level: str, stage: Any, pack: Pack, family: str) -> dict[str, Any]:
    puzzle = next(puzzle for puzzle in pack.puzzles if puzzle.id == stage.puzzle)
    shown = stage.difficulty
    unknown = {"used": None, "actions": None, "left": None}
    players = [
        {"player": name, "playouts": counts.playouts, "passed": list(counts.passed), **unknown}
        for name, counts in shown.players.items()
    ]
    return {
        "stage": stage.id,
        "level": level,
        "number": number,
        "puzzle": puzzle.id,
        "family": family,
        "board": puzzle.board,
        "cells": sum(glyph.isdigit() for glyph in puzzle.board),
        "adds": stage.adds,
        "min_adds": puzzle.min_adds.upper,
        "par": puzzle.par.upper if puzzle.par else None,
        "target": shown.target,
        "select": shown.score,
        "score": shown.score,
        "low": max(0.0, shown.score - 1),
        "high": min(100.0, shown.score + 1),
        "distance": round(shown.score - shown.target, 3),
        "band": shown.band,
        "band_low": shown.band,
        "band_high": shown.band,
        "pinned": number == 1,
        "moved": False,
        "players": players,
    }


def _level(level: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    def mean(key: str) -> float:
        return float(sum(abs(row[key]) for row in rows) / len(rows))

    scores, adds = [row["score"] for row in rows], [row["adds"] for row in rows]
    return {
        "level": level.id,
        "title": level.title,
        "stages": len(rows),
        "target": mean("target"),
        "score": mean("score"),
        "easiest": min(scores),
        "hardest": max(scores),
        "mean_distance": mean("distance"),
        "max_distance": max(abs(row["distance"]) for row in rows),
        "adds_low": min(adds),
        "adds_high": max(adds),
    }
