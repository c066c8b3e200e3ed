"""Dead letters: list, show, replay, discard."""

from __future__ import annotations

from collections.abc import Mapping

from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.dead_letters import DeadLetter, DiscardedJob, WholeDeadLetter
from postmill.shapes.jobs import ReplayedJob
from postmill.shapes.paging import Page


def list_dead_letters(
    *,
    reason: str | None = None,
    definition_key: str | None = None,
    queue: str | None = None,
    tenant_id: Id | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[DeadLetter]]:
    """Open dead letters, those given up last first."""
    return get(
        at("dead-letters"),
        model(Page[DeadLetter]),
        reason=reason,
        definition_key=definition_key,
        queue=queue,
        tenant_id=tenant_id,
        limit=limit,
        cursor=cursor,
    )


def get_dead_letter(job_id: Id) -> Call[WholeDeadLetter]:
    """One open dead letter. The payload needs the permission `payloads.read`."""
    return get(at("dead-letters", job_id), model(WholeDeadLetter))


def replay_dead_letter(
    job_id: Id,
    *,
    payload: Mapping[str, object] | None = None,
    again: bool = False,
    confirm: bool = False,
    idempotency_key: str | None = None,
) -> Call[ReplayedJob]:
    """Runs a dead letter again as a new job, with `payload` in place of the old one if given.

    Conflict, whose `more["job_id"]` names the other job, where it was replayed already; unless that one has ended and
    `again` is true. Conflict, too, where the definition says `replay_class = ask` and `confirm` is not true.
    """
    body = {"payload": payload, "again": again, "confirm": confirm}
    return write("POST", at("dead-letters", job_id, "replay"), model(ReplayedJob), body, key=idempotency_key)


def discard_dead_letter(
    job_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[DiscardedJob]:
    """Closes a dead letter for good: the job counts as failed."""
    path = at("dead-letters", job_id, "discard")
    return write("POST", path, model(DiscardedJob), {"reason": reason}, key=idempotency_key)
