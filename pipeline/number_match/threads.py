"""Small work on several cores of one process: tasks come in, results go out in the same order.

Kernels let go of the interpreter while they run, so that threads are enough. Runs that take hours use `engine.py`.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    work: Callable[[Task], Result], tasks: Sequence[Task], workers: int | None = None
) -> Iterator[tuple[Task, Result]]:
    """Every task with its result, in the order of the tasks; when one fails, those not yet begun are dropped.

    Args:
        workers: threads; by default as many as there are cores, and never more than tasks.
    """
    with ThreadPoolExecutor(max(1, min(workers or cores(), len(tasks)))) as pool:
        try:
            yield from zip(tasks, pool.map(work, tasks), strict=True)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
