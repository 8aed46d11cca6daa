"""Where shards are made: in this process, in local worker processes, or on a Dask cluster.

Jobs come in, results come out as they finish, at most a few jobs ahead of the workers, so that the parent holds no more
than that. Every engine has the shape of `concurrent.futures`. A worker that dies takes no work with it: its jobs are
given to new workers, three times, before the run stops.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from typing import Any, TypeVar

from number_match.config import RunConfig
from number_match.errors import UserError
from number_match.threads import cores

J = TypeVar("J")
R = TypeVar("R")

ATTEMPTS = 3
_AHEAD = 2  # jobs waiting for each worker


class WorkersDied(Exception):
    """Workers were killed again and again at the same jobs, or all are out of reach; what is finished is kept."""


class Inline(Executor):
    """Runs a job at once, in this process; for debugging."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Engine:
    """Runs jobs, on the executor that the config asks for."""

    def __init__(self, make: Callable[[], Executor], workers: int, end: Callable[[], object] = lambda: None) -> None:
        self.workers = workers
        self._make = make
        self.end = end  # called when the engine is no longer needed
        self._executor: Executor | None = None  # started with the first job

    def each(self, function: Callable[[J], R], jobs: Iterable[J]) -> Iterator[tuple[J, R]]:
        """`function` of every job, with the job, in the order in which they finish.

        Raises:
            WorkersDied: a job met with a killed worker `ATTEMPTS` times, or the scheduler of a cluster is gone.
            Exception: whatever `function` raised; jobs not yet started are dropped.
        """
        todo = iter(jobs)
        again: list[tuple[J, int]] = []
        running: dict[Future[R], tuple[J, int]] = {}
        try:
            while True:
                while len(running) < self.workers * _AHEAD:
                    job, attempt = again.pop() if again else (next(todo, None), 1)
                    if job is None:
                        break
                    try:
                        running[self._submit(function, job)] = job, attempt
                    except BrokenExecutor:
                        again.append((job, attempt + 1))
                        break
                if not running and not again:
                    return
                done = wait(running, return_when=FIRST_COMPLETED).done if running else set()
                broken = not running
                for future in done:
                    job, attempt = running.pop(future)
                    if future.cancelled():
                        raise WorkersDied("the scheduler of the cluster is gone")
                    error = future.exception()
                    if error is None:
                        yield job, future.result()
                    elif _worker_lost(error):
                        broken = True
                        again.append((job, attempt + 1))
                    else:
                        raise error
                if broken:
                    if isinstance(self._executor, ProcessPoolExecutor):  # all of its jobs are lost with one worker
                        again += [(job, attempt + 1) for job, attempt in running.values()]
                        running.clear()
                        self.close()
                    if any(attempt > ATTEMPTS for _, attempt in again):
                        raise WorkersDied(f"a worker was killed {ATTEMPTS} times at the same work (out of memory?)")
        finally:
            for future in running:
                future.cancel()

    def _submit(self, function: Callable[[J], R], job: J) -> Future[R]:
        if self._executor is None:
            self._executor = self._make()
        return self._executor.submit(function, job)

    def close(self) -> None:
        """Let the workers go; what they have begun is given up."""
        executor, self._executor = self._executor, None
        if not isinstance(executor, ProcessPoolExecutor):
            if executor is not None:
                executor.shutdown(wait=False)
            return
        processes = list((executor._processes or {}).values())
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            with contextlib.suppress(OSError, ValueError):
                process.terminate()
        for process in processes:
            with contextlib.suppress(OSError, ValueError, AssertionError):
                process.join(5)


@contextlib.contextmanager
def open_engine(run: RunConfig, say: Callable[[str], None] = lambda text: None) -> Iterator[Engine]:
    """The engine of `[run]`. Workers start with the first job and end with the block.

    Args:
        say: gets a line when a cluster has to be waited for.
    """
    workers = run.workers or cores()
    if run.engine == "dask":
        engine = _dask_engine(run, say)
    elif run.engine == "inline":
        engine = Engine(Inline, 1)
    else:
        engine = Engine(lambda: _processes(workers), workers)
    try:
        yield engine
    finally:
        engine.close()
        engine.end()


def _processes(workers: int) -> ProcessPoolExecutor:
    """Spawned processes: a fork with polars loaded hangs."""
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_begin_worker)


def _begin_worker() -> None:
    """A worker leaves Ctrl-C to its parent, uses one thread, and ends when its parent is gone, however that went."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when a job imports polars
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def _worker_lost(error: BaseException) -> bool:
    return isinstance(error, BrokenExecutor) or type(error).__name__ in (
        "KilledWorker",
        "CommClosedError",
        "FutureCancelledError",
    )


def _dask_engine(run: RunConfig, say: Callable[[str], None]) -> Engine:
    """Workers of a Dask cluster at `run.scheduler`; the run folder must be on a file system that all of them share."""
    try:
        from distributed import Client  # type: ignore[attr-defined, unused-ignore]
    except ModuleNotFoundError:
        raise UserError(
            'run.engine is "dask": expected the extra `cluster` (pip install "number-match-pipeline[cluster]")'
        ) from None
    if not run.scheduler:
        raise UserError(
            'run.scheduler: missing; expected the address of a scheduler beside engine = "dask", such as tcp://host:8786'
        )
    for name in ("asyncio", "distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what goes wrong with a cluster is told of in `each`
    try:
        client: Any = Client(run.scheduler, timeout="20s", set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise UserError(f"run.scheduler: no Dask scheduler answers at {run.scheduler}: {error}") from None

    def begin() -> Executor:
        try:
            if not client.nthreads():
                say(f"dask: the scheduler at {run.scheduler} has no workers yet; waiting for them")
                client.wait_for_workers(1)
                time.sleep(1)  # workers come together: let the others come, too, before they are counted
            engine.workers = run.workers or max(1, sum(client.nthreads().values()))
        except (OSError, CancelledError):
            raise WorkersDied("the scheduler of the cluster is gone") from None
        executor: Executor = client.get_executor(retries=ATTEMPTS, pure=False)
        return executor

    engine = Engine(begin, 1, client.close)
    return engine
