"""Enqueue and publish on the caller's own connection, inside the caller's own transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from postmill import bind
from postmill.client import flows, publishing
from postmill.domain.event import Published
from postmill.domain.job import Enqueued, NewJob
from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA


def enqueue(
    conn: Any, job: NewJob, *, wait: timedelta | float | None = None, schema: str = DEFAULT_SCHEMA
) -> Enqueued:
    """Enqueues one job on `conn`: it is there when, and only when, the caller's transaction commits.

    Nothing is committed, retried or rolled back here, and a refusal leaves the transaction usable.

    Args:
        conn: psycopg.Connection, SQLAlchemy Connection or Session, or Django's connection.
        job: what a job type's `.new(…)` made, or a NewJob written out.
        wait: for a job with a key, seconds to wait for another open transaction that holds the same key;
        beyond it
            KeyBusy. 0: not at all. None: as long as the session's lock_timeout allows.
        schema: where Postmill's tables are.

    Returns:
        The job's id, and whether it was created or found under its key.

    Raises:
        UnknownJobType, InactiveJobType, KeyBusy, KeyTaken, SerializationConflict, PayloadRefused: no job was
        made.
        SchemaMissing: the database has no Postmill schema; this aborts the transaction.
        TypeError: `conn` is of no known kind, or asynchronous.
    """
    return bind.drive(conn, flows.enqueue(schema, job, wait=wait))


async def aenqueue(
    conn: Any, job: NewJob, *, wait: timedelta | float | None = None, schema: str = DEFAULT_SCHEMA
) -> Enqueued:
    """`enqueue` on psycopg.AsyncConnection, asyncpg.Connection, SQLAlchemy AsyncConnection, AsyncSession."""
    return await bind.adrive(conn, flows.enqueue(schema, job, wait=wait))


def enqueue_many(
    conn: Any,
    jobs: Iterable[NewJob],
    *,
    wait: timedelta | float | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> list[Enqueued]:
    """Enqueues many jobs on `conn` and returns their answers in order. As `enqueue` otherwise.

    200 and more jobs that use no option but tenant, priority and delay go by COPY with psycopg and asyncpg;
    others by arrays, 2,000 in a statement (in autocommit mode each of those commits by itself).

    Raises:
        SomeRefused: at least one job was refused. The others are enqueued if the caller commits; `answers`
        tells.
    """
    return bind.drive(conn, flows.many(schema, jobs, wait, copy=bind.can_copy(conn)))


async def aenqueue_many(
    conn: Any,
    jobs: Iterable[NewJob],
    *,
    wait: timedelta | float | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> list[Enqueued]:
    """`enqueue_many` on the kinds of connection that `aenqueue` takes."""
    return await bind.adrive(conn, flows.many(schema, jobs, wait, copy=bind.can_copy(conn)))


def publish(
    conn: Any,
    name: str,
    context: Mapping[str, object] | None = None,
    *,
    tenant: UUID | str | None = None,
    correlation_id: str | None = None,
    request_id: str | None = None,
    traceparent: str | None = None,
    actor_type: ActorType = "system",
    actor_id: UUID | str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Published:
    """Publishes an event on `conn`, and makes the jobs of the triggers that it meets, in the caller's transaction.

    Nothing is committed, retried or rolled back here, and a refusal leaves the transaction usable. A trigger whose
    template does not fit keeps no other from its job.

    Args:
        conn: as for `enqueue`.
        name: words with dots between them, as `provider.folder.updated`.
        context: what templates see as `event`; a JSON object of at most 1 MiB.
        tenant: whose event it is; None is the default tenant.
        correlation_id: groups what belongs together; its jobs carry it on. None: the event's id.
        request_id, traceparent, actor_type, actor_id: as those of a job.
        schema: where Postmill's tables are.

    Returns:
        The event's id, and what came of it at each trigger.

    Raises:
        PayloadRefused: the name or the context cannot be; nothing was written.
        NotFound: there is no such tenant; nothing was written.
        SchemaMissing: the database has no Postmill schema; this aborts the transaction.
        TypeError: `conn` is of no known kind, or asynchronous.
    """
    flow = publishing.publish(
        schema, name, context, tenant=tenant, correlation_id=correlation_id, request_id=request_id,
        traceparent=traceparent, actor_type=actor_type, actor_id=actor_id,
    )  # fmt: skip
    return bind.drive(conn, flow)


async def apublish(
    conn: Any,
    name: str,
    context: Mapping[str, object] | None = None,
    *,
    tenant: UUID | str | None = None,
    correlation_id: str | None = None,
    request_id: str | None = None,
    traceparent: str | None = None,
    actor_type: ActorType = "system",
    actor_id: UUID | str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Published:
    """`publish` on the kinds of connection that `aenqueue` takes."""
    flow = publishing.publish(
        schema, name, context, tenant=tenant, correlation_id=correlation_id, request_id=request_id,
        traceparent=traceparent, actor_type=actor_type, actor_id=actor_id,
    )  # fmt: skip
    return await bind.adrive(conn, flow)
