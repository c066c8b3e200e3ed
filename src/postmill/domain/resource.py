"""`@resource`: what a worker process opens once for its handlers, such as a pool or a model, and closes at its end."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

from postmill.domain.errors import DefinitionError

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Resource(Generic[T]):
    """Made by `@resource`; `ctx.resource(…)` gives what it has yielded in this process."""

    fn: Callable[[], Iterator[T] | AsyncIterator[T]]

    @property
    def name(self) -> str:
        """Where it stands, as `shop.jobs.http`."""
        return f"{self.fn.__module__}.{self.fn.__qualname__}"

    def __repr__(self) -> str:
        return f"<resource {self.name}>"


@overload
def resource(fn: Callable[[], AsyncIterator[T]]) -> Resource[T]: ...
@overload
def resource(fn: Callable[[], Iterator[T]]) -> Resource[T]: ...
def resource(fn: Callable[[], Any]) -> Resource[Any]:
    """Make a resource of a generator function, sync or async: open, `yield` once, close.

    A worker opens the resources of its modules when it starts, before it claims, and closes them in the opposite order
    when it has drained; each of its processes has its own. Handlers get what was yielded by `ctx.resource(…)`.

    Raises DefinitionError for what is no generator function without parameters.
    """
    name = getattr(fn, "__qualname__", repr(fn))
    if not (inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn)):
        raise DefinitionError(
            f"@resource {name}: expected a function that yields once (def or async def), with no other decorator below"
        )
    if inspect.signature(fn).parameters:
        raise DefinitionError(f"@resource {name}: it is called without arguments, so it takes no parameters")
    return Resource(fn)
