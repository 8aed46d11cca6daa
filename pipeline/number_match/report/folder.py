"""A run folder comes in, what a report is made from goes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from number_match.beside import earlier
from number_match.errors import UserError
from number_match.models import Pack, read_pack
from number_match.store import Store
from number_match.tables import stored

# The columns that the report reads; tables of other versions, with more columns or fewer, will do when they have these.
COLUMNS = {
    "puzzles": "puzzle family cells min_adds_upper nodes stream scores stage",
    "stages": "stage level number puzzle family board cells adds min_adds par target score low high distance band "
    "band_low band_high pinned moved",
    "levels": "level title stages target score easiest hardest mean_distance max_distance adds_low adds_high",
    "rejections": "family cells reason verdict nodes",
}

COUNTS: dict[str, Any] = {"player": pl.String, "playouts": pl.Int64, "passed": pl.List(pl.Int64)}
"""What it reads of each player of a Stage."""


@dataclass(frozen=True)
class RunFolder:
    """The pack, run.json, and the four tables of reports/.

    `earlier` says so when the pack is not of the config of the last run, which then has no part in anything here:
    `record` is empty.
    """

    pack: Pack
    record: Mapping[str, Any]
    earlier: str
    puzzles: pl.DataFrame
    stages: pl.DataFrame
    levels: pl.DataFrame
    rejections: pl.DataFrame

    @property
    def adds(self) -> tuple[int, int]:
        """The least and the largest allowance that Stages of this pack may have, else those that they have."""
        match getattr(self.pack.assembly, "adds", None):
            case [int(low), int(high)]:
                return low, high
        used = self.stages["adds"].to_list()
        return min(used), max(used)


def read_run(folder: Path) -> RunFolder:
    """The contents of a run folder.

    Raises:
        UserError: it is not one, the run has not finished, or a file of it is damaged or of another pack.
    """
    store = Store(folder)
    record = store.read_record()
    if record is None:
        raise UserError(_no_record(folder / "run.json", folder))
    if not (folder / "pack.json").is_file():
        raise UserError(f"{folder}: no pack.json yet; `number-match run -c {folder / 'run.json'}` goes on to make it")
    tables = {name: stored(store, name, columns.split()) for name, columns in COLUMNS.items()}
    tables["stages"] = _with_counts(tables["stages"], store.path("reports/stages.parquet"))
    pack = read_pack(folder / "pack.json")
    standing = [(stage.id, stage.puzzle, stage.adds) for level in pack.levels for stage in level.stages]
    if tables["stages"].select("stage", "puzzle", "adds").rows() != standing:
        raise UserError(
            f"{folder}: pack.json and reports/stages.parquet are of different packs; run again to make both anew"
        )
    note = earlier(pack, record)
    return RunFolder(pack, {} if note else record, note, **tables)


def _no_record(path: Path, folder: Path) -> str:
    """Why there is nothing to be had from run.json, and what to do."""
    if path.exists():
        return f"{path}: damaged, it holds no JSON object; `number-match run -c CONFIG -o {folder}` writes it anew"
    return f"{folder}: expected a run folder, with a run.json in it"


def _with_counts(stages: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Stages with no more than COUNTS of each player."""
    try:
        return stages.with_columns(
            pl.col("players").list.eval(pl.struct(pl.element().struct.field(*COUNTS))).cast(pl.List(pl.Struct(COUNTS)))
        )
    except pl.exceptions.PolarsError:
        raise UserError(f"{path}: no column players as this version has it; run again to make it anew") from None
