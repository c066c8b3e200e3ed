"""What a route gets: who asks, checked against the table of permissions, and the database in his scope."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request
from psycopg import AsyncConnection
from psycopg.errors import InvalidAuthorizationSpecification

from postmill.api.backend import Backend
from postmill.api.context import correlation_id, traceparent
from postmill.api.parameters import check_parameters
from postmill.api.problems import Problem, unauthorized
from postmill.api.scope import begun, no_longer
from postmill.api.together import together
from postmill.bind import adrive, arun
from postmill.domain.access import Action, Principal
from postmill.domain.job import NewJob
from postmill.store.access import enter_request
from postmill.store.doors import Entered, door_enqueue
from postmill.store.flow import Flow
from postmill.store.statement import Statement

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """One permitted request.

    Every statement of it runs as the database's request role, within the scope of the principal: what is not in
    scope is not there. Each `run` is one transaction; `transaction()` holds more than one.

    Attributes:
        correlation_id, traceparent: what the request says of the work it belongs to; jobs that it makes carry it on.
        held: the transaction of a request with an Idempotency-Key, which began with it.
    """

    principal: Principal
    request_id: str
    backend: Backend
    correlation_id: str | None = None
    traceparent: str | None = None
    held: AsyncConnection[Any] | None = None

    @property
    def schema(self) -> str:
        """The PostgreSQL schema that statements are made for."""
        return self.backend.schema

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A connection in a transaction within the scope; commits at the end.

        Of a request with an Idempotency-Key all transactions are one, which ends with the request.
        """
        if self.held is not None:
            yield self.held
            return
        async with begun(self.backend, self.principal, self.request_id) as conn:
            yield conn

    async def run(self, statement: Statement[T]) -> T:
        """One statement in a transaction of its own, and in one round trip."""
        if self.held is not None:
            return await arun(self.held, statement)
        enter = enter_request(self.principal, self.request_id, schema=self.schema)
        try:
            async with self.backend.pool.connection() as conn:
                return await together(conn, enter, statement)
        except InvalidAuthorizationSpecification:
            raise no_longer(self.backend) from None

    async def enqueue(self, job: NewJob, version: int | None) -> Entered:
        """A job through the door, checked against that version of its definition: the request that comes most often."""
        if self.held is not None:
            return await arun(self.held, door_enqueue(job, version, schema=self.schema))
        try:
            return await self.backend.entrance.enqueue(self.principal, self.request_id, job, version)
        except InvalidAuthorizationSpecification:
            raise no_longer(self.backend) from None

    async def drive(self, flow: Flow[T]) -> T:
        """One operation of several statements, in one transaction."""
        async with self.transaction() as conn:
            return await adrive(conn, flow)

    async def denied(self, action: str, detail: str, *, target: str | None = None) -> Problem:
        """403 for what the role may not; noted in the audit log, at most once a minute for an actor and action."""
        await self.backend.denied(self.principal, action, detail, self.request_id, target)
        return Problem(403, "forbidden", detail)


def may(action: Action | None) -> Callable[[Request], Awaitable[Asked]]:
    """The dependency of every route: the guard has authenticated, and this action is allowed.

    Args:
        action: what the route does; None is what everybody may who is somebody.

    Raises:
        Problem: 403 where the role may not, which is audited; 422 for a query parameter that the route does not know.
    """

    async def asked(request: Request) -> Asked:
        state = request.state
        principal: Principal | None = getattr(state, "principal", None)
        if principal is None:
            raise unauthorized("send an API key as `Authorization: Bearer <key>`, or log in")
        found = Asked(
            principal,
            state.request_id,
            request.app.state.backend,
            correlation_id(request),
            traceparent(request),
            getattr(state, "held", None),
        )
        if action is not None and not found.principal.may(action):
            detail = f"the role {found.principal.role} may not {action}"
            raise await found.denied(action, detail, target=f"{request.method} {request.url.path}")
        check_parameters(request)
        return found

    asked.action = action  # type: ignore[attr-defined]
    return asked
