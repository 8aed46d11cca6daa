"""Packs in other forms: a pack file comes in, a file for the game or a table of Stages goes out."""

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from number_match.errors import UserError
from number_match.files import save
from number_match.formats import ExportFormat
from number_match.models import MAX_BYTES, Pack, client_pack, pack_text, read_pack, seal

SUFFIXES = {
    ExportFormat.client: ".client.json",
    ExportFormat.ndjson: ".ndjson",
    ExportFormat.parquet: ".parquet",
}


def export(
    path: str | os.PathLike[str], form: ExportFormat, out: Path | None = None, *, max_bytes: int = MAX_BYTES
) -> Path:
    """Write the pack at `path` in another form, and give the file's name: `out`, or beside the pack.

    Raises:
        UserError: the pack cannot be read, is not as it was sealed, or the file cannot be written.
    """
    pack = read_pack(path, max_bytes=max_bytes)
    source = Path(path)
    if seal(pack).content_hash != pack.content_hash:
        raise UserError(f"{source}: was altered: its content_hash is another's; `number-match verify` says more")
    target = out or source.with_name(source.name.removesuffix(".json") + SUFFIXES[form])
    save(target, contents(pack, form), source)
    return target


def contents(pack: Pack, form: ExportFormat) -> bytes:
    """A pack in another form; raises UserError as `rows` does."""
    if form is ExportFormat.client:
        return pack_text(client_pack(pack)).encode()
    if form is ExportFormat.ndjson:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(pack)).encode()
    return _parquet(pack)


def rows(pack: Pack) -> Iterator[dict[str, Any]]:
    """A flat record for every Stage, in order, with what is known about its puzzle.

    Raises:
        UserError: a puzzle is not in the pack.
    """
    puzzles = {puzzle.id: puzzle for puzzle in pack.puzzles}
    for level in pack.levels:
        for stage in level.stages:
            puzzle = puzzles.get(stage.puzzle)
            if puzzle is None:
                raise UserError(f"{pack.pack_id}: Stage {stage.id}: its puzzle {stage.puzzle} is not in the pack")
            yield {
                "level": level.id,
                "level_title": level.title,
                "stage": stage.id,
                "puzzle": puzzle.id,
                "board": puzzle.board,
                "canonical": puzzle.canonical,
                "family": puzzle.family,
                "adds": stage.adds,
                "min_adds_lower": puzzle.min_adds.lower,
                "min_adds_upper": puzzle.min_adds.upper,
                "par_lower": None if puzzle.par is None else puzzle.par.lower,
                "par_upper": None if puzzle.par is None else puzzle.par.upper,
                "score": stage.difficulty.score,
                "band": stage.difficulty.band,
                "target": stage.difficulty.target,
                "players": [
                    {"player": name, "passed": list(counts.passed), "playouts": counts.playouts}
                    for name, counts in stage.difficulty.players.items()
                ],
                "solution": list(stage.solution),
            }


def _parquet(pack: Pack) -> bytes:
    """The rows as a table, with the pack's content_hash in the file's metadata."""
    import polars as pl

    players = pl.Struct({"player": pl.String, "passed": pl.List(pl.Int64), "playouts": pl.Int64})
    whole = ("adds", "min_adds_lower", "min_adds_upper", "par_lower", "par_upper")
    types: dict[str, Any] = dict.fromkeys(whole, pl.Int64) | dict.fromkeys(("score", "target"), pl.Float64)
    types |= {"players": pl.List(players), "solution": pl.List(pl.String)}
    records = list(rows(pack))
    schema = {name: types.get(name, pl.String) for name in records[0]}
    buffer = io.BytesIO()
    pl.DataFrame(records, schema=schema).write_parquet(buffer, metadata={"content_hash": pack.content_hash})
    return buffer.getvalue()
