"""Jobs that are enqueued with a session's commit, and two-phase sessions.

`postmill.enqueue(session, job)` enqueues at once, in the session's transaction. `enqueue_on_commit(session, job)` waits until
the session commits, and enqueues then, in the same transaction: what is made of the objects' ids finds them written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sqlalchemy import Engine, event, text
from sqlalchemy.ext.asyncio import AsyncSession, async_scoped_session
from sqlalchemy.orm import Session, SessionTransaction, scoped_session

from postmill import bind, client
from postmill.domain.job import NewJob
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.doorbell import ring
from postmill.store.jobs import job_state

AnySession: TypeAlias = "Session | scoped_session[Any] | AsyncSession | async_scoped_session[Any]"
Wanted: TypeAlias = "NewJob | Callable[[], NewJob]"

_KEY = "postmill"


def enqueue_on_commit(session: AnySession, job: Wanted, *, schema: str = DEFAULT_SCHEMA) -> None:
    """Enqueues a job when the session commits, in the transaction that it commits: with it, or not at all.

    All jobs of a commit go in one statement. Those of a savepoint that is rolled back are forgotten. In a session with
    `twophase=True`, where NOTIFY is not allowed, workers are woken after the commit, from a connection of its own.

    Args:
        session: Session, AsyncSession, or a registry (`scoped_session`) of one; nothing is awaited here.
        job: what a job type's `.new(…)` made; or a function that makes it when the session has been flushed, so that
            the ids of new objects are known.
        schema: where Postmill's tables are.

    Raises, from the commit, what `postmill.enqueue_many` does; roll back then.
    """
    one = _sync(session)
    waiting = one.info.get(_KEY)
    if waiting is None:
        waiting = one.info[_KEY] = _Waiting()
        event.listen(one, "before_commit", _enqueue)
        event.listen(one, "after_soft_rollback", _forget)
        event.listen(one, "after_commit", _wake)
    # As `session.add` does: without a transaction a rollback would not be told to us.
    transaction = one.get_nested_transaction() or one.get_transaction() or one.begin()
    waiting.jobs.append((transaction, schema, job))


@dataclass(slots=True)
class _Waiting:
    """What a session has still to do: jobs with the (sub)transaction that they belong to, queues to be woken."""

    jobs: list[tuple[SessionTransaction, str, Wanted]] = field(default_factory=list)
    to_wake: dict[str, set[str]] = field(default_factory=dict)


def _sync(session: AnySession) -> Session:
    if isinstance(session, scoped_session | async_scoped_session):
        session = session.registry()
    if isinstance(session, AsyncSession):
        return session.sync_session
    assert isinstance(session, Session), f"expected a session of SQLAlchemy, got {type(session).__name__}"
    return session


def _enqueue(session: Session) -> None:
    waiting: _Waiting = session.info[_KEY]
    nested = session.get_nested_transaction()
    due = [entry for entry in waiting.jobs if nested is None or entry[0] is nested]
    if not due:
        return
    waiting.jobs = [entry for entry in waiting.jobs if entry not in due]
    session.flush()
    if session.twophase:
        session.execute(text("select set_config('postmill.notify', 'off', true)"))
    for schema in dict.fromkeys(entry[1] for entry in due):
        jobs = [job() if callable(job) else job for _, place, job in due if place == schema]
        answers = client.enqueue_many(session, jobs, schema=schema)
        if session.twophase:
            found = bind.run(session, job_state([answer.id for answer in answers], schema=schema))
            waiting.to_wake.setdefault(schema, set()).update(view.queue for view in found)


def _forget(session: Session, ended: SessionTransaction) -> None:
    waiting: _Waiting = session.info[_KEY]
    if ended.nested:
        waiting.jobs = [entry for entry in waiting.jobs if entry[0] is not ended]
    else:
        waiting.jobs, waiting.to_wake = [], {}


def _wake(session: Session) -> None:
    waiting: _Waiting = session.info[_KEY]
    if session.in_nested_transaction():
        return
    rung, waiting.to_wake = waiting.to_wake, {}
    for schema, queues in rung.items():
        engine = session.get_bind()
        engine = engine if isinstance(engine, Engine) else engine.engine
        with engine.begin() as conn:
            bind.run(conn, ring(sorted(queues), schema=schema))
