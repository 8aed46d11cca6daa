"""Small work on several cores of one process: tasks come in, results go out in the same order.

Kernels let go of the interpreter while they run, so that threads are enough. Runs that take hours use `engine.py`.
Compiled code that a thread is in cannot be stopped: whoever ends the process asks `busy` whether it has to go at once.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

AHEAD = 1000
"""Tasks begun, or waiting for a thread, at a time; however many there are, no more are held."""

_unfinished: set[Future[Any]] = set()


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    work: Callable[[Task], Result], tasks: Iterable[Task], workers: int | None = None
) -> Iterator[tuple[Task, Result]]:
    """Every task with its result, in the order of the tasks.

    When one fails, or the caller is interrupted, those not yet begun are dropped, and those under way not waited for.

    Args:
        workers: threads; by default as many as there are cores, and never more than tasks.
    """
    pool = ThreadPoolExecutor(workers or cores())
    todo, begun = iter(tasks), deque[tuple[Task, Future[Result]]]()
    try:
        while True:
            for task in islice(todo, AHEAD - len(begun)):
                future = pool.submit(work, task)
                _unfinished.add(future)
                future.add_done_callback(_unfinished.discard)
                begun.append((task, future))
            if not begun:
                return
            task, future = begun.popleft()
            yield task, future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def busy() -> bool:
    """Whether a thread is still at a task, so that an ordinary end of the process would wait for it."""
    return any(future.running() for future in list(_unfinished))
