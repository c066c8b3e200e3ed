"""Idempotency keys as people read them. A flow, to be run as those of `commands` are."""

from __future__ import annotations

from uuid import UUID

from postmill.store import envelope as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.envelope import KeyView
from postmill.store.flow import Flow


def idempotency_keys(
    *,
    key: str | None = None,
    job_type: str | None = None,
    after: tuple[UUID, UUID, str] | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[KeyView]]:
    """Keys in the order of tenant, project and key, those after the `position` of one."""
    found: list[KeyView] = yield store.idempotency_keys(
        key=key, job_type=job_type, after=after, most=most, schema=schema
    )
    return found
