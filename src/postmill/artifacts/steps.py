"""An operation that asks the database and the store in turn, written once: for callers that block and that await."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from postmill.artifacts.threads import in_thread
from postmill.store.statement import Statement

R = TypeVar("R")

Run = Callable[[Statement[Any]], Any]
ARun = Callable[[Statement[Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Blocking:
    """Work that blocks: in place, or in a thread."""

    work: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Awaited:
    """Something that only a coroutine can wait for."""

    work: Callable[[], Awaitable[Any]]


Step: TypeAlias = Statement[Any] | Blocking | Awaited
Steps: TypeAlias = Generator[Step, Any, R]
"""What a step raises is raised where it was yielded, so that it can be cleaned up after, by further steps."""


def drive(steps: Steps[R], run: Run, between: Callable[[], object] | None = None) -> R:
    """Runs them, statements by `run`. `between` is called before each, until something has been raised.

    Raises:
        TypeError: they wait for something that only a coroutine can wait for.
    """
    try:
        step = next(steps)
        while True:
            try:
                if between is not None:
                    between()
                answer = _done(step, run)
            except BaseException as error:
                between = None  # what cleans up is not kept from it
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def adrive(steps: Steps[R], run: ARun) -> R:
    """As `drive`, for a coroutine."""
    try:
        step = next(steps)
        while True:
            try:
                answer = await _adone(step, run)
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _done(step: Step, run: Run) -> Any:
    if isinstance(step, Statement):
        return run(step)
    if isinstance(step, Awaited):
        raise TypeError("an asynchronous iterator can only be put by a coroutine: await aput(…)")
    return step.work()


async def _adone(step: Step, run: ARun) -> Any:
    if isinstance(step, Statement):
        return await run(step)
    if isinstance(step, Awaited):
        return await step.work()
    return await in_thread(step.work)
