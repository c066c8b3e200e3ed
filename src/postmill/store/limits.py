"""Statements on limits over the whole fleet. Run in a request or by an owner."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from postmill.domain.job_options import ActorType
from postmill.domain.limit import LimitName, Rate
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class LimitView:
    """A limit, with what is used of it now.

    Attributes:
        name: type:NAME, queue:NAME, tenant:SLUG or all, with what is counted each for itself behind.
        queue, job_type, tenant: whose jobs are under it; all None: every job.
        per: what is counted each for itself: tenant, payload.<field>; empty: all together.
        max_running: jobs at once, of each; None: any number. 0: of a tenant that is suspended.
        rate: starts per time, of each; None: no rate.
        declared: what code or settings say; None: nothing.
        edited: an operator set it.
        running: jobs that are within it now.
        keys: how many different ones these are.
        at_cap: how many of them have as many as they may.
        wait_seconds: for how long its rate lets nothing start; None where it counts each for itself, or has no rate.
    """

    name: str
    queue: str | None
    job_type: str | None
    tenant: str | None
    per: list[str]
    max_running: int | None
    rate: Rate | None
    declared: dict[str, Any] | None
    edited: bool
    running: int
    keys: int
    at_cap: int
    wait_seconds: float | None


@dataclass(frozen=True, slots=True)
class LimitKey:
    """One of the things that a limit counts: what its parts are worth, how many run, and one of these jobs."""

    parts: list[str | None]
    running: int
    job_id: UUID


def read_limits(
    name: str | None = None, *, after: str = "", most: int = 1000, schema: str = DEFAULT_SCHEMA
) -> Statement[list[LimitView]]:
    """Limits within the scope by name, from the one behind `after` on; or the one of this name."""
    return Statement(
        "read_limits",
        sql("limits/read_limits", schema),
        (name, after, most),
        lambda rows: [_view(*row) for row in rows],
    )


def read_limit_keys(name: str, *, most: int = 20, schema: str = DEFAULT_SCHEMA) -> Statement[list[LimitKey]]:
    """What a limit counts now, the fullest first."""
    return Statement("read_limit_keys", sql("limits/read_limit_keys", schema), (name, most), _keys)


def set_limit(
    name: LimitName,
    max_running: int | None,
    rate: Rate | None,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[str]:
    """created | changed | unchanged | unknown_queue | unknown_type | unknown_tenant | encrypted | out_of_scope."""
    said = None if rate is None else json.dumps(rate.row())
    args = (name.scope, name.target, list(name.per), max_running, said, reason, actor_type, actor_id)
    return Statement("set_limit", sql("limits/set_limit", schema), args, lambda rows: str(rows[0][0]))


def clear_limit(
    name: str,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[str]:
    """cleared | declared (what code or settings say is in force again) | unknown."""
    args = (name, reason, actor_type, actor_id)
    return Statement("clear_limit", sql("limits/clear_limit", schema), args, lambda rows: str(rows[0][0]))


def _keys(rows: Rows) -> list[LimitKey]:
    return [LimitKey(*row) for row in rows]


def _view(
    name: str,
    queue: str | None,
    job_type: str | None,
    tenant: str | None,
    per: Sequence[str],
    max_running: int | None,
    count: int | None,
    seconds: float | None,
    burst: int | None,
    declared: str | None,
    edited: bool,
    *used: Any,
) -> LimitView:
    rate = None if count is None or seconds is None else Rate(count, seconds, burst)
    said = None if declared is None else json.loads(declared)
    return LimitView(
        name, queue, job_type, tenant, list(per), max_running, rate, said, edited, *used
    )  # fmt: skip
