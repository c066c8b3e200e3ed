"""Enqueue on the caller's own connection, inside the caller's own transaction."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from postmill import bind
from postmill.client import flows
from postmill.domain.job import Enqueued, NewJob
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
