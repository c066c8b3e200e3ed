"""Notifications beside a write: enqueued in its transaction, and never a reason for it to fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
import structlog

from examples.planner.caller import Caller
from examples.planner.jobs.notify import deliver
from examples.planner.messages.channels import CHANNELS
from examples.planner.statements import rows
from examples.planner.submit import submit
from postmill import Enqueued, PostmillError, stable_hash

_log = structlog.get_logger("planner")


async def tell(
    conn: Any,
    caller: Caller,
    project: UUID,
    people: Iterable[UUID],
    template: str,
    variables: Mapping[str, str],
    scheduled_for: datetime | None = None,
    since: datetime | None = None,
) -> list[Enqueued]:
    """One job for each person and channel with an address. Raises what `submit` does: for who asked for just this.

    `since` is when that came about which is told (now, where nothing is said): a request that comes again tells it once.
    """
    found = await rows(conn, "channels_of", people=list(people), moment=scheduled_for or since)
    made = []
    for one in found:
        for channel, column in CHANNELS.items():
            if not one[column]:
                continue
            identity = {
                "recipient": f"{channel}:{one['id']}",
                "template": template,
                "payload_hash": stable_hash(dict(variables)),
                "schedule_bucket": one["bucket"],
            }
            job = deliver.new(variables=dict(variables), **identity)
            made.append(
                await submit(
                    conn, caller, job, project=project, scheduled_for=scheduled_for,
                    identity=identity | {"schedule_bucket": one["bucket"].isoformat()},
                )
            )  # fmt: skip
    return made


async def tell_if_possible(
    conn: Any,
    caller: Caller,
    project: UUID,
    people: Iterable[UUID],
    template: str,
    variables: Mapping[str, str],
    since: datetime | None = None,
) -> list[Enqueued]:
    """The same, best effort: whatever goes wrong is logged, undone to where it began, and the write goes on."""
    try:
        async with conn.transaction():
            return await tell(conn, caller, project, people, template, variables, since=since)
    except (PostmillError, psycopg.Error) as fault:
        _log.warning(
            "notification_not_enqueued", template=template, error=type(fault).__name__,
            request_id=caller.request_id, org_id=str(caller.org_id),
        )  # fmt: skip
        return []
