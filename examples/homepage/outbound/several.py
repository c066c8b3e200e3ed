"""Several that are refreshed in one job, each for itself: what fails for one does not stop the others, and the job tells."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from examples.homepage.outbound.services import ServiceError

T = TypeVar("T")

MOST_AT_ONCE = 4


class SomeFailed(Exception):
    """Some of several have failed; the others are done. Those that may recover are tried again by the job's next attempt.

    Attributes:
        retry_after: what their servers asked for, all headers; the longest holds.
    """

    def __init__(self, what: str, failed: Sequence[Exception], of: int) -> None:
        kinds = ", ".join(sorted({str(error) for error in failed}))
        super().__init__(f"{len(failed)} of {of} {what} failed: {kinds}")
        self.retry_after = [
            wait for error in failed for wait in getattr(error, "retry_after", None) or ()
        ] or None
        self.retryable = any(_may_recover(error) for error in failed)


async def each(what: str, of: Iterable[T], do: Callable[[T], Awaitable[Exception | None]]) -> int:
    """Does all of them, a few at once, and answers how many there were; `do` returns an error that it has noted.

    Raises SomeFailed, when all are done.
    """
    gate = asyncio.Semaphore(MOST_AT_ONCE)

    async def one(item: T) -> Exception | None:
        async with gate:
            return await do(item)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(item)) for item in of]
    failed = [error for task in tasks if (error := task.result()) is not None]
    if failed:
        raise SomeFailed(what, failed, len(tasks))
    return len(tasks)


def _may_recover(error: Exception) -> bool:
    if not isinstance(error, ServiceError):
        return False
    return error.status is None or error.status >= 500 or error.status in (404, 408, 425, 429)
