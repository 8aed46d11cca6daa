"""Shards by jobs: jobs come in, their shards stand in the run folder afterwards.

A job makes the rows of one shard, in any process that sees the folder. What is there is kept; what is found damaged is
said and made again.
"""

from __future__ import annotations

import socket
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tqdm import tqdm

from number_match.engine import Engine
from number_match.errors import UserError
from number_match.store import DamagedShard, Request, Store
from number_match.words import counted

if TYPE_CHECKING:
    import polars as pl

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one job came to."""

    rows: int
    counts: Mapping[str, int]  # verdicts, nodes, playouts
    seconds: float
    cpu: float


@dataclass(frozen=True)
class Job(ABC):
    """One shard to be made, in any process that sees the run folder."""

    folder: str
    request: Request

    @abstractmethod
    def table(self, store: Store) -> tuple[pl.DataFrame, dict[str, int]]:
        """The rows of the shard, and counts for the summary."""

    @property
    @abstractmethod
    def boards(self) -> int:
        """How many boards this job is about, or at most how many."""

    at_most: ClassVar[bool] = False
    """Whether `boards` is only an upper bound, since results that are not there yet decide."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """The compiled code that it needs: files of `kernels/`."""
        return ()


def warm_up(jobs: Iterable[Job], say: Say) -> None:
    """Load the kernels that these jobs need; compile them where that was never done on this machine.

    A run does so before its workers start, and workers do, since theirs may be another machine.
    """
    if parts := sorted({part for job in jobs for part in job.kernels}):
        from number_match.kernels import prepare

        prepare(parts, say)


def work(job: Job) -> Receipt:
    """Make a shard and write it.

    Raises:
        UserError: the run folder is not there, on the machine of this worker.
        DamagedShard: what it is made from is damaged.
        OSError: it cannot be written.
    """
    store = Store(Path(job.folder))
    if not store.folder.is_dir():
        raise UserError(
            f"{store.folder}: not there on {socket.gethostname()}; expected on a file system that all workers share"
        )
    warm_up([job], lambda text: print(text, file=sys.stderr))
    wall, cpu = time.perf_counter(), time.process_time()
    table, counts = job.table(store)
    store.write(job.request, table)
    return Receipt(table.height, counts, time.perf_counter() - wall, time.process_time() - cpu)


def kept(title: str, jobs: Sequence[Job], missing: Sequence[Job]) -> str:
    """How many shards are there, and how many are to be made."""
    text = f"{title}: {counted(len(jobs) - len(missing), 'shard')} kept"
    if not missing:
        return text
    about = "up to " if any(job.at_most for job in missing) else ""
    return f"{text}, {len(missing)} to make ({about}{counted(sum(job.boards for job in missing), 'board')})"


class Maker:
    """Makes the shards of one run folder on an engine.

    Args:
        say: takes a line for people.
        bars: whether progress is shown.
        dry: nothing is made, damage is only told.
    """

    remedy = "it is made again"
    """What is said to become of a damaged shard."""

    def __init__(self, store: Store, engine: Engine, say: Say, *, bars: bool = False, dry: bool = False) -> None:
        self.store, self.engine = store, engine
        self.say, self.bars, self.dry = say, bars, dry
        self.jobs: dict[str, Job] = {}  # by shard, to make a damaged one again
        if dry:
            self.remedy = "a run makes it again"

    def missing(self, jobs: Sequence[Job]) -> list[Job]:
        """Those whose shard is not there."""
        missing = []
        for job in jobs:
            self.jobs[job.request.name] = job
            if not self.holds(job.request):
                missing.append(job)
        return missing

    def made(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Receipt]]:
        """Do the jobs; what they find damaged on the way is made again first."""
        todo = {job.request.name: job for job in jobs}
        while todo:
            try:
                for job, receipt in self.engine.each(work, list(todo.values())):
                    del todo[job.request.name]
                    yield job, receipt
            except DamagedShard as damage:
                yield from self.made([self._damaged(damage)])

    def _damaged(self, damage: DamagedShard) -> Job:
        """Say so, remove it, and return the job that makes it again.

        Raises:
            DamagedShard: nothing may be made.
        """
        self.say(f"damaged: {damage}; {self.remedy}")
        if self.dry:
            raise damage
        self.store.discard(damage.path)
        return self.jobs[damage.path]

    def holds(self, request: Request) -> bool:
        """Whether the shard is there; a damaged one is said and removed."""
        try:
            return self.store.holds(request)
        except DamagedShard as damage:
            self.say(f"damaged: {damage}; {self.remedy}")
            if not self.dry:
                self.store.discard(damage.path)
            return False

    def read(self, request: Request, schema: pl.Schema) -> pl.DataFrame:
        """The rows of a shard that was asked for, made again when it is damaged."""
        while True:
            try:
                return self.store.read(request, schema)
            except DamagedShard as damage:
                for _ in self.made([self._damaged(damage)]):
                    pass

    @contextmanager
    def bar(self, title: str, total: int) -> Iterator[Any]:
        """A progress bar over so many boards, hidden where none is wanted."""
        hidden = not self.bars or not total
        with tqdm(total=total, desc=title, unit="board", disable=hidden, file=sys.stderr, leave=False) as bar:
            yield bar
