"""A run folder comes in, what a report is made from goes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from number_match.errors import UserError
from number_match.models import Pack, read_pack
from number_match.store import Store
from number_match.tables import LEVELS, PUZZLES, REJECTIONS, STAGES

TABLES = {"puzzles": PUZZLES, "stages": STAGES, "levels": LEVELS, "rejections": REJECTIONS}


@dataclass(frozen=True)
class RunFolder:
    """The pack, run.json, and the four tables of reports/."""

    pack: Pack
    record: Mapping[str, Any]
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
        UserError: it is not one, the run has not finished, or a file of it is damaged.
    """
    store = Store(folder)
    record = store.read_record()
    if record is None:
        raise UserError(f"{folder}: expected a run folder, with a run.json in it")
    if not (folder / "pack.json").is_file():
        raise UserError(f"{folder}: no pack.json yet; `number-match run -c {folder / 'run.json'}` goes on to make it")
    tables = {}
    for name, schema in TABLES.items():
        table = store.read_report(name)
        if table is None or table.schema != pl.Schema(schema):
            raise UserError(f"{folder}/reports/{name}.parquet: missing, damaged or of another version; run again")
        tables[name] = table
    return RunFolder(read_pack(folder / "pack.json"), record, **tables)
