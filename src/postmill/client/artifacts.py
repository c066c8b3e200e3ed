"""`client.artifacts`, of both clients: the same operations, from the same steps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import UUID

from postmill.artifacts.opening import Opening
from postmill.artifacts.steps import ARun, Run, Steps, adrive, drive
from postmill.client import artifact_flows as flows
from postmill.client.artifact_flows import Place
from postmill.store.statement import Statement

P = ParamSpec("P")
T = TypeVar("T")
Build = Callable[Concatenate[Place, P], Steps[T]]


def blocking(build: Build[P, T]) -> Callable[Concatenate[Artifacts, P], T]:
    """A method that does what `build` says."""

    @functools.wraps(build)
    def method(self: Artifacts, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return drive(build(self._place, *args, **kwargs), self._run)

    return method


def awaiting(build: Build[P, T]) -> Callable[Concatenate[AsyncArtifacts, P], Coroutine[Any, Any, T]]:
    """A coroutine method that does what `build` says."""

    @functools.wraps(build)
    async def method(self: AsyncArtifacts, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await adrive(build(self._place, *args, **kwargs), self._arun)

    return method


class _Opens:
    def __init__(self, place: Place, run: Run, arun: ARun) -> None:
        self._place = place
        self._run = run
        self._arun = arun

    def open(self, id: UUID | str) -> Opening:
        """An artifact to be read: `with client.artifacts.open(id) as reading`, and `async with` of an AsyncClient.

        `reading` has `read(n)`, gives chunks of at most 1 MiB where it is iterated, and `artifact`. Size and checksum
        are compared while it is read, and its end is only given out where they are right.

        Raises:
            NotFound: there is none such. ArtifactGone: it has expired.
            ArtifactDamaged: the store has another file than was put, or none; also while it is read.
            ArtifactStoreFailed, ArtifactStoreMissing: the store's fault.
        """
        return Opening(partial(flows.open_, self._place, id), self._run, self._arun)


class Artifacts(_Opens):
    """Files that jobs read or made."""

    put = blocking(flows.put)
    list = blocking(flows.list_)
    get = blocking(flows.get)
    read = blocking(flows.read)
    delete = blocking(flows.delete)


class AsyncArtifacts(_Opens):
    """Files that jobs read or made."""

    put = awaiting(flows.put)
    list = awaiting(flows.list_)
    get = awaiting(flows.get)
    read = awaiting(flows.read)
    delete = awaiting(flows.delete)


def not_blocking(statement: Statement[Any]) -> Any:
    """Stands where an AsyncClient has no way to block."""
    raise TypeError("this is an AsyncClient's: write async with client.artifacts.open(…)")


async def not_awaited(statement: Statement[Any]) -> Any:
    """Stands where a Client has no way to await."""
    raise TypeError(
        "this is a Client's, which blocks: write with client.artifacts.open(…), or take an AsyncClient"
    )
