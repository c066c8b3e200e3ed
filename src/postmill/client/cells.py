"""Clients of all cells at once: each call goes to the cell in which its tenant lives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from random import uniform
from time import monotonic
from types import TracebackType
from typing import Any, Generic, Self, TypeVar
from uuid import UUID

from postmill.client.asynchronous import AsyncClient
from postmill.client.sync import Client
from postmill.domain.errors import SettingsError, SomeRefused, TenantAway, TenantMoved
from postmill.domain.event import Published
from postmill.domain.job import Enqueued, NewJob
from postmill.domain.settings import Settings
from postmill.domain.settings_cells import cell_named, directory_of
from postmill.domain.settings_load import load
from postmill.store.cells import find_place
from postmill.store.flow import Flow, once

C = TypeVar("C", Client, AsyncClient)
T = TypeVar("T")

KNOWN_FOR = 5.0
"""Seconds for which a look into the directory is believed; an enqueue that comes too late is refused, and looks again."""

MOST = 10_000
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.5


class _Ways(Generic[C]):
    """What both kinds know: the cells, their clients, and where tenants were a moment ago."""

    def __init__(self, settings: Settings | None, patience: float, kind: type[C], connections: int) -> None:
        found = load() if settings is None else settings
        home = directory_of(found.cells)
        if home is None:
            raise SettingsError("the settings have no cells; without them a Client is enough")
        self.home = home
        self.patience = patience
        self.schema = found.schema_name
        self._settings = found
        self._kind: type[C] = kind
        self._connections = connections
        self._clients: dict[str, C] = {}
        self._places: dict[UUID | str, tuple[str, float]] = {}

    def of(self, cell: str) -> C:
        """The client of one cell."""
        found = self._clients.get(cell)
        if found is None:
            dsn = cell_named(self._settings.cells, cell).dsn
            found = self._clients[cell] = self._kind(
                dsn,
                schema=self.schema,
                connections=self._connections,
                prepared_statements=self._settings.prepared_statements,
            )
        return found

    def known(self, tenant: UUID | str) -> str | None:
        """Where the tenant was a moment ago."""
        cell, until = self._places.get(tenant, ("", 0.0))
        return cell if until > monotonic() else None

    def look(self, tenant: UUID | str) -> Flow[str | None]:
        """Asks the directory."""
        return once(find_place(tenant, schema=self.schema))

    def learn(self, tenant: UUID | str, found: str | None) -> str:
        """What the directory said: a tenant that is not in it lives in the directory's own cell."""
        cell = found or self.home
        if len(self._places) >= MOST:
            self._places.clear()
        self._places[tenant] = (cell, monotonic() + KNOWN_FOR)
        return cell

    def again(self, tenant: UUID | str, fault: TenantAway, pause: float, end: float) -> float:
        """The seconds to wait before the next try; raises `fault` where patience is over."""
        self._places.pop(tenant, None)
        wait = 0.0 if isinstance(fault, TenantMoved) and pause == FIRST_PAUSE else pause * uniform(0.5, 1.0)
        if monotonic() + wait > end:
            raise fault
        return wait


class Cells:
    """Enqueues and publishes where each tenant lives, and gives the client of its cell for the rest.

    While a tenant is carried from one cell to another, about a second, a call waits; nothing is refused or lost.

    Args:
        settings: with `cells`; None: as `Client` finds them.
        patience: the most seconds that a call waits for a tenant that moves.
        connections: the most connections to each cell.

    Raises:
        SettingsError: the settings have no cells, or cannot be read.
    """

    def __init__(
        self, settings: Settings | None = None, *, patience: float = 30.0, connections: int = 10
    ) -> None:
        self._ways = _Ways(settings, patience, Client, connections)

    def where(self, tenant: UUID | str) -> str:
        """The name of the cell in which a tenant, named by id or slug, lives."""
        found = self._ways.known(tenant)
        if found is None:
            found = self._ways.learn(
                tenant, self._ways.of(self._ways.home)._stepwise(self._ways.look(tenant))
            )
        return found

    def client(self, tenant: UUID | str) -> Client:
        """The client of that cell. It stays there: ask for it anew for each piece of work."""
        return self._ways.of(self.where(tenant))

    def enqueue(self, job: NewJob, *, wait: timedelta | float | None = None) -> Enqueued:
        """As `Client.enqueue`, in the cell of the job's tenant.

        Raises:
            TenantMoving: the tenant is on its way for longer than `patience`.
        """
        return self._try(job.tenant_id, lambda client: client.enqueue(job, wait=wait))

    def enqueue_many(
        self, jobs: Iterable[NewJob], *, wait: timedelta | float | None = None
    ) -> list[Enqueued]:
        """As `Client.enqueue_many`, each tenant's jobs in one transaction of its cell; the answers are in the order of `jobs`.

        Raises:
            SomeRefused: of one tenant's jobs some were refused, so none of them was made. Jobs of tenants that come
                earlier in `jobs` have been made.
            TenantMoving: as in `enqueue`.
        """
        made: dict[int, Enqueued] = {}
        for tenant, numbered in _by_tenant(jobs).items():
            answers = self._try(tenant, _many([job for _, job in numbered], wait))
            made |= zip((n for n, _ in numbered), answers, strict=True)
        return [made[n] for n in range(len(made))]

    def publish(self, name: str, context: Any = None, *, tenant: UUID, **more: Any) -> Published:
        """As `Client.publish`, in the cell of the tenant. Raises TenantMoving as `enqueue` does."""
        return self._try(tenant, lambda client: client.publish(name, context, tenant=tenant, **more))

    def close(self) -> None:
        """Closes the connections; using it again opens new ones."""
        for client in self._ways._clients.values():
            client.close()

    def _try(self, tenant: UUID, act: Callable[[Client], T]) -> T:
        end, pause = monotonic() + self._ways.patience, FIRST_PAUSE
        while True:
            try:
                return act(self.client(tenant))
            except (TenantAway, SomeRefused) as fault:
                time.sleep(self._ways.again(tenant, _away(fault), pause, end))
                pause = min(2 * pause, LONGEST_PAUSE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


class AsyncCells:
    """`Cells`, awaited."""

    def __init__(
        self, settings: Settings | None = None, *, patience: float = 30.0, connections: int = 10
    ) -> None:
        self._ways = _Ways(settings, patience, AsyncClient, connections)

    async def where(self, tenant: UUID | str) -> str:
        """As `Cells.where`."""
        found = self._ways.known(tenant)
        if found is None:
            looked = await self._ways.of(self._ways.home)._stepwise(self._ways.look(tenant))
            found = self._ways.learn(tenant, looked)
        return found

    async def client(self, tenant: UUID | str) -> AsyncClient:
        """As `Cells.client`."""
        return self._ways.of(await self.where(tenant))

    async def enqueue(self, job: NewJob, *, wait: timedelta | float | None = None) -> Enqueued:
        """As `Cells.enqueue`."""
        return await self._try(job.tenant_id, lambda client: client.enqueue(job, wait=wait))

    async def enqueue_many(
        self, jobs: Iterable[NewJob], *, wait: timedelta | float | None = None
    ) -> list[Enqueued]:
        """As `Cells.enqueue_many`."""
        made: dict[int, Enqueued] = {}
        for tenant, numbered in _by_tenant(jobs).items():
            answers = await self._try(tenant, _many([job for _, job in numbered], wait))
            made |= zip((n for n, _ in numbered), answers, strict=True)
        return [made[n] for n in range(len(made))]

    async def publish(self, name: str, context: Any = None, *, tenant: UUID, **more: Any) -> Published:
        """As `Cells.publish`."""
        return await self._try(tenant, lambda client: client.publish(name, context, tenant=tenant, **more))

    async def close(self) -> None:
        """As `Cells.close`."""
        for client in self._ways._clients.values():
            await client.close()

    async def _try(self, tenant: UUID, act: Callable[[AsyncClient], Awaitable[T]]) -> T:
        end, pause = monotonic() + self._ways.patience, FIRST_PAUSE
        while True:
            try:
                return await act(await self.client(tenant))
            except (TenantAway, SomeRefused) as fault:
                await asyncio.sleep(self._ways.again(tenant, _away(fault), pause, end))
                pause = min(2 * pause, LONGEST_PAUSE)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.close()


def _by_tenant(jobs: Iterable[NewJob]) -> dict[UUID, list[tuple[int, NewJob]]]:
    found: dict[UUID, list[tuple[int, NewJob]]] = {}
    for n, job in enumerate(jobs):
        found.setdefault(job.tenant_id, []).append((n, job))
    return found


def _many(jobs: list[NewJob], wait: timedelta | float | None) -> Callable[[Any], Any]:
    return lambda client: client.enqueue_many(jobs, wait=wait)


def _away(fault: TenantAway | SomeRefused) -> TenantAway:
    """Why the tenant was not there. Raises `fault` where it was refused for another reason."""
    if isinstance(fault, TenantAway):
        return fault
    for answer in fault.answers:
        if isinstance(answer, TenantAway):
            return answer
    raise fault
