"""Dead letters: list, show, count, replay, discard."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.dead_letters import DeadLetter, DiscardedJob, WholeDeadLetter
from postmill.shapes.dead_statistics import DeadStatistics, RecoveryRule
from postmill.shapes.jobs import ReplayedJob
from postmill.shapes.paging import Page


def list_dead_letters(
    *,
    reason: str | None = None,
    definition_key: str | None = None,
    queue: str | None = None,
    tenant_id: Id | None = None,
    error_group: str | None = None,
    error_status: int | None = None,
    given_up_after: datetime | None = None,
    given_up_before: datetime | None = None,
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
        error_group=error_group,
        error_status=error_status,
        given_up_after=given_up_after,
        given_up_before=given_up_before,
        limit=limit,
        cursor=cursor,
    )


def get_dead_letter(job_id: Id) -> Call[WholeDeadLetter]:
    """One open dead letter. The payload needs the permission `payloads.read`."""
    return get(at("dead-letters", job_id), model(WholeDeadLetter))


def get_dead_statistics(*, tenant_id: Id | None = None) -> Call[DeadStatistics]:
    """How many are open, of what causes, since when, and how fast they grow."""
    return get(at("dead-letters", "statistics"), model(DeadStatistics), tenant_id=tenant_id)


def list_recovery_rules() -> Call[Page[RecoveryRule]]:
    """The recovery rules that workers have run, and what came of them; a tenant sees none."""
    return get(at("dead-letters", "recovery-rules"), model(Page[RecoveryRule]))


def replay_dead_letter(
    job_id: Id,
    *,
    payload: Mapping[str, object] | None = None,
    edit: Mapping[str, object] | None = None,
    again: bool = False,
    confirm: bool = False,
    despite_success: bool = False,
    version: int | None = None,
    original_version: bool = False,
    idempotency_key: str | None = None,
) -> Call[ReplayedJob]:
    """Runs a dead letter again as a new job, with `payload` in place of the old one if given, or with what the merge patch
    `edit` (RFC 7396) makes of it. `version`: only once the definition is at it. `original_version`:
    only workers take it that run the version of the definition that it was made under.

    Conflict, whose `more["job_id"]` names the other job, where it was replayed already; unless that one has ended and
    `again` is true. Conflict, too, where the definition says `replay_class = ask` and `confirm` is not true, and where a
    later job has succeeded in its place and `despite_success` is not true.
    """
    body = {
        "payload": payload,
        "edit": edit,
        "again": again,
        "confirm": confirm,
        "despite_success": despite_success,
        "version": version,
        "original_version": original_version,
    }
    return write("POST", at("dead-letters", job_id, "replay"), model(ReplayedJob), body, key=idempotency_key)


def discard_dead_letter(
    job_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[DiscardedJob]:
    """Closes a dead letter for good: the job counts as failed."""
    path = at("dead-letters", job_id, "discard")
    return write("POST", path, model(DiscardedJob), {"reason": reason}, key=idempotency_key)
