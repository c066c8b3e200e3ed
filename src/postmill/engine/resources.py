"""The resources of one process, open while it runs jobs."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, TypeVar, cast

from postmill.domain.errors import PostmillError, ResourceFailed
from postmill.domain.resource import Resource

T = TypeVar("T")

_END = object()


class Resources:
    """Opened one after the other on the event loop, which does nothing else by then; closed in the opposite order."""

    def __init__(self, wanted: Iterable[Resource[Any]]) -> None:
        self._wanted = tuple(wanted)
        self.opened = asyncio.Event()
        self._open: dict[Resource[Any], tuple[Iterator[Any] | AsyncIterator[Any], Any]] = {}

    async def keep(self, leaving: asyncio.Event) -> None:
        """Open them, and close them on `leaving`: in one task, as some can only be closed where they were opened.

        Raises ResourceFailed where one cannot be opened (those before it are closed), PostmillError naming those that
        could not be closed.
        """
        try:
            await self._open_all()
            self.opened.set()
            await leaving.wait()
        except BaseException:
            await self._close_quietly()
            raise
        await self._close_all()

    def get(self, resource: Resource[T]) -> T:
        """What it has yielded. Raises ResourceFailed if it is not open here."""
        found = self._open.get(resource)
        if found is None:
            raise ResourceFailed(
                f"resource {resource.name} is not open here: it must stand at the top level of a module that the worker serves"
            )
        return cast(T, found[1])

    async def around(self, fn: Callable[..., Any], /, **arguments: Any) -> Any:
        """Run a coroutine function in a child process, with its own resources."""
        try:
            await self._open_all()
            return await fn(**arguments)
        finally:
            await self._close_quietly()

    def around_function(self, fn: Callable[..., Any], /, **arguments: Any) -> Any:
        """As `around`, for a plain function."""
        with asyncio.Runner() as runner:
            try:
                runner.run(self._open_all())
                return fn(**arguments)
            finally:
                runner.run(self._close_quietly())

    async def _open_all(self) -> None:
        for resource in self._wanted:
            try:
                steps = resource.fn()
                value = await _next(steps)
            except Exception as error:
                raise ResourceFailed(
                    f"resource {resource.name} could not be opened: {_said(error)}"
                ) from error
            if value is _END:
                raise ResourceFailed(f"resource {resource.name} could not be opened: it did not yield")
            self._open[resource] = steps, value

    async def _close_all(self) -> None:
        failed: list[str] = []
        while self._open:
            resource, (steps, _) = self._open.popitem()
            try:
                if await _next(steps) is not _END:
                    failed.append(f"resource {resource.name} yielded twice")
            except Exception as error:
                failed.append(f"resource {resource.name} could not be closed: {_said(error)}")
        if failed:
            raise PostmillError("; ".join(failed))

    async def _close_quietly(self) -> None:
        try:
            await self._close_all()
        except PostmillError:
            traceback.print_exc()  # something else counts: what the job came to, or why another was not opened


async def _next(steps: Iterator[Any] | AsyncIterator[Any]) -> Any:
    return await anext(steps, _END) if isinstance(steps, AsyncIterator) else next(steps, _END)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
