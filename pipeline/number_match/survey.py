"""A survey of random boards: sizes and allowances come in; out go the share of boards that can be cleared, the
distribution of min Adds, and the panel's pass rates.

    boards/*.parquet         a row for every board, in shards
    summary.parquet          a row for every figure, with its 95% interval
    survey.md survey.png     the same for people
    survey.json              what was asked for, and when

The files but survey.json depend on what was asked for and on nothing else (DESIGN.md section 4).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from number_match import __version__
from number_match.config import RunConfig
from number_match.engine import open_engine
from number_match.errors import UserError
from number_match.jobs import Job, Maker, Say, kept, warm_up
from number_match.store import DamagedShard, Store, differences
from number_match.survey_boards import FOLDER, BoardsJob, Survey
from number_match.survey_figures import Counts, page, rates, summary

OUTPUTS = ("summary.parquet", "survey.md", "survey.png")


def run_survey(survey: Survey, folder: Path, run: RunConfig, *, say: Say, bars: bool = False) -> pl.DataFrame:
    """Bring a folder to what is asked for, going on with what is there, and return the summary.

    Raises:
        UserError: the folder holds something else, or another process has it.
        WorkersDied, OSError: the work could not go on; what is finished is kept.
    """
    store = Store(folder)
    record = _record(store, survey)
    jobs = survey.jobs(folder)
    if _is_done(store, survey, record, jobs):
        say(f"{folder}: nothing to do; this survey is finished")
        return pl.read_parquet(store.path("summary.parquet"))
    store.prepare([FOLDER])
    with store.lock(), open_engine(run, say) as engine:
        begun = time.perf_counter()
        _write_record(store, survey, {"state": "running"})
        maker = Maker(store, engine, say, bars=bars)
        missing = maker.missing(jobs)
        say(kept("survey", jobs, missing))
        warm_up(missing, say)
        with maker.bar("survey", sum(job.boards for job in missing)) as bar:
            for job, _ in maker.made(missing):
                bar.update(job.boards)
        figures = _figures_of(survey, maker, jobs)
        _write(store, survey, figures)
        _clear(store, survey, jobs)
        facts = {
            "state": "done",
            "sizes": list(survey.sizes),
            "boards": survey.boards,
            "outputs": {name: store.file_hash(name) for name in OUTPUTS},
            "boards_made": sum(job.boards for job in missing),
            "seconds": round(time.perf_counter() - begun, 3),
        }
        _write_record(store, survey, facts)
        say(f"{folder}: finished; {facts['boards_made']:,} boards made in {facts['seconds']:.0f} s")
    return figures


def _record(store: Store, survey: Survey) -> dict[str, Any]:
    """survey.json, when there is one; raises UserError where the folder is another survey's, or no survey's."""
    if store.path("run.json").exists():
        raise UserError(f"{store.folder}: holds a run (run.json); choose another folder for the survey with -o")
    record = store.read_record("survey.json") or {}
    settings = record.get("settings")
    if isinstance(settings, dict) and settings != survey.settings:
        changes = ", ".join(differences(settings, survey.settings))
        raise UserError(
            f"{store.folder}: holds a survey of other settings ({changes}); give those, or another folder with -o"
        )
    return record


def _write_record(store: Store, survey: Survey, facts: Mapping[str, Any]) -> None:
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    content = {"settings": survey.settings, "version": __version__, "written": at, **facts}
    store.write_text("survey.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _is_done(store: Store, survey: Survey, record: Mapping[str, Any], jobs: Sequence[Job]) -> bool:
    """Whether everything that is asked for is there."""
    outputs = record.get("outputs")
    if not isinstance(outputs, dict) or set(outputs) != set(OUTPUTS):
        return False
    if (record.get("sizes"), record.get("boards")) != (list(survey.sizes), survey.boards):
        return False
    try:
        return all(store.file_hash(name) == outputs[name] for name in OUTPUTS) and all(
            store.holds(job.request) for job in jobs
        )
    except DamagedShard:
        return False


def _figures_of(survey: Survey, maker: Maker, jobs: Sequence[BoardsJob]) -> pl.DataFrame:
    """The summary of the shards, read one at a time."""
    counts = {cells: Counts() for cells in survey.sizes}
    for job in jobs:
        counts[job.cells].take(maker.read(job.request, survey.schema), survey)
    return summary(survey, counts)


def _write(store: Store, survey: Survey, figures: pl.DataFrame) -> None:
    from number_match.report.charts import WIDE, players, png

    store.write_table("summary.parquet", figures)
    store.write_text("survey.md", page(survey, figures))
    store.write_bytes("survey.png", png(players(rates(survey, figures), WIDE)))


def _clear(store: Store, survey: Survey, jobs: Sequence[Job]) -> None:
    """Remove shards of boards that others hold by now, so that boards/ has every board once."""
    wanted = {job.request.name for job in jobs}
    for name in store.shards(FOLDER):
        what = store.request_of(name) or {}
        if name not in wanted and what.get("cells") in survey.sizes and what["numbers"][0] < survey.boards:
            store.discard(name)
