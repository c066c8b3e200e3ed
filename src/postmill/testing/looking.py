"""What was enqueued, on the test's own connection: also in a transaction that is still open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pydantic_core import to_jsonable_python

from postmill import bind
from postmill.domain.job import JobView
from postmill.domain.job_type import JobType
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.jobs import job_state, list_jobs

MOST = 10_000
"""So many of the newest jobs of a type are looked at."""

Wanted = JobType[..., ..., Any] | str


def enqueued(
    conn: Any,
    job_type: Wanted | None = None,
    arguments: Mapping[str, Any] | None = None,
    *,
    queue: str | None = None,
    tenant: UUID | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> list[JobView]:
    """The jobs that wait or run, the oldest first.

    Args:
        conn: a connection as `postmill.enqueue` takes it.
        job_type: only those of this type (the job type, or its name).
        arguments: only those that have these arguments, and maybe others.
        queue, tenant: only those of a queue, of a tenant.
        schema: where Postmill's tables are.
    """
    return bind.drive(conn, _found(schema, job_type, arguments, queue, tenant))


async def aenqueued(
    conn: Any,
    job_type: Wanted | None = None,
    arguments: Mapping[str, Any] | None = None,
    *,
    queue: str | None = None,
    tenant: UUID | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> list[JobView]:
    """`enqueued` on the kinds of connection that `postmill.aenqueue` takes."""
    return await bind.adrive(conn, _found(schema, job_type, arguments, queue, tenant))


def assert_enqueued(
    conn: Any,
    job_type: Wanted,
    arguments: Mapping[str, Any] | None = None,
    *,
    count: int | None = None,
    schema: str = DEFAULT_SCHEMA,
    **more: Any,
) -> JobView:
    """Asserts that such a job was enqueued, and has not ended; returns it, the newest if there are several.

    Args:
        count: exactly so many; None: at least one.
        more: as those of `enqueued`.

    Raises AssertionError, which lists what was enqueued instead.
    """
    found = enqueued(conn, job_type, arguments, schema=schema, **more)
    if _fits(found, count):
        return found[-1]
    raise AssertionError(_missed(job_type, arguments, count, found, enqueued(conn, schema=schema)))


async def aassert_enqueued(
    conn: Any,
    job_type: Wanted,
    arguments: Mapping[str, Any] | None = None,
    *,
    count: int | None = None,
    schema: str = DEFAULT_SCHEMA,
    **more: Any,
) -> JobView:
    """`assert_enqueued` on the kinds of connection that `postmill.aenqueue` takes."""
    found = await aenqueued(conn, job_type, arguments, schema=schema, **more)
    if _fits(found, count):
        return found[-1]
    raise AssertionError(_missed(job_type, arguments, count, found, await aenqueued(conn, schema=schema)))


def assert_not_enqueued(
    conn: Any, job_type: Wanted | None = None, arguments: Mapping[str, Any] | None = None, **more: Any
) -> None:
    """Asserts that no such job waits or runs. Raises AssertionError, which lists those that do."""
    found = enqueued(conn, job_type, arguments, **more)
    if found:
        raise AssertionError(f"expected no such job, found:{_listed(found)}")


async def aassert_not_enqueued(
    conn: Any, job_type: Wanted | None = None, arguments: Mapping[str, Any] | None = None, **more: Any
) -> None:
    """`assert_not_enqueued` on the kinds of connection that `postmill.aenqueue` takes."""
    found = await aenqueued(conn, job_type, arguments, **more)
    if found:
        raise AssertionError(f"expected no such job, found:{_listed(found)}")


def _found(
    schema: str,
    job_type: Wanted | None,
    arguments: Mapping[str, Any] | None,
    queue: str | None,
    tenant: UUID | None,
) -> Flow[list[JobView]]:
    page = yield list_jobs(job_type=_name(job_type), queue=queue, tenant=tenant, most=MOST, schema=schema)
    ids = [line.id for line in page.jobs]
    views: list[JobView] = (yield job_state(ids, schema=schema)) if ids else []
    wanted = {} if arguments is None else to_jsonable_python(dict(arguments))
    return sorted(
        (view for view in views if not view.finished and _has(view.payload, wanted)),
        key=lambda view: view.id,
    )


def _name(job_type: Wanted | None) -> str | None:
    return job_type.name if isinstance(job_type, JobType) else job_type


def _has(payload: Any, wanted: Mapping[str, Any]) -> bool:
    return not wanted or (
        isinstance(payload, dict)
        and all(name in payload and payload[name] == wanted[name] for name in wanted)
    )


def _fits(found: list[JobView], count: int | None) -> bool:
    return bool(found) if count is None else len(found) == count > 0


def _missed(
    job_type: Wanted,
    arguments: Mapping[str, Any] | None,
    count: int | None,
    found: list[JobView],
    all_of_them: list[JobView],
) -> str:
    many = "a job" if count is None else f"{count} job{'s' if count != 1 else ''}"
    with_these = f" with {dict(arguments)!r}" if arguments else ""
    there = _listed(all_of_them) or "\n  nothing"
    return f"expected {many} {_name(job_type)!r}{with_these}, found {len(found)}; enqueued are:{there}"


def _listed(views: list[JobView]) -> str:
    lines = [
        f"\n  {view.job_type} {json.dumps(view.payload)} ({view.status}, queue {view.queue})"
        for view in views
    ]
    return "".join(lines[-20:])
