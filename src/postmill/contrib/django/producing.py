"""Enqueue, publish and cancel on Django's connection: inside `atomic()` and ATOMIC_REQUESTS part of the transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import transaction

from postmill import client
from postmill.contrib.django.conf import config
from postmill.contrib.django.database import connection
from postmill.domain.event import Published
from postmill.domain.job import Enqueued, NewJob
from postmill.store.jobs import Canceled


def enqueue(job: NewJob, *, using: str | None = None, wait: timedelta | float | None = None) -> Enqueued:
    """Enqueues one job: it is there when, and only when, the transaction that is open on the connection commits.

    Args:
        job: what a job type's `.new(…)` made.
        using: alias of the database; default: POSTMILL's DATABASE.
        wait: as in `postmill.enqueue`.

    Raises what `postmill.enqueue` does.
    """
    return client.enqueue(connection(using), job, wait=wait, schema=config().schema)


async def aenqueue(
    job: NewJob, *, using: str | None = None, wait: timedelta | float | None = None
) -> Enqueued:
    """`enqueue` for async views: in the thread, and on the connection, that Django's own async queries use."""
    return await sync_to_async(enqueue)(job, using=using, wait=wait)


def enqueue_many(
    jobs: Iterable[NewJob], *, using: str | None = None, wait: timedelta | float | None = None
) -> list[Enqueued]:
    """Enqueues many jobs; the answers are in their order. Raises what `postmill.enqueue_many` does."""
    return client.enqueue_many(connection(using), jobs, wait=wait, schema=config().schema)


def publish(name: str, context: Any = None, *, using: str | None = None, **options: Any) -> Published:
    """Publishes an event in the open transaction; options and errors are those of `postmill.publish`."""
    return client.publish(connection(using), name, context, schema=config().schema, **options)


def cancel(id: UUID | str, *, using: str | None = None, **options: Any) -> Canceled:
    """Cancels a job in the open transaction; options and errors are those of `postmill.cancel`."""
    return client.cancel(connection(using), id, schema=config().schema, **options)


def enqueue_on_commit(
    job: NewJob | Callable[[], NewJob], *, after: str = "default", using: str | None = None
) -> None:
    """Enqueues once the transaction on the database `after` has committed: for data that is not in Postmill's database.

    A crash between the two commits loses the job; where both are in one database `enqueue` loses nothing. Outside of a
    transaction it enqueues at once. Of a function the job is made after the commit.
    """
    transaction.on_commit(lambda: enqueue(job() if callable(job) else job, using=using), using=after)
