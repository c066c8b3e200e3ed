"""How long what is kept, and the cold archive."""

from __future__ import annotations

from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.archive import ArchivedJob, ArchiveState, ArchiveUnit
from postmill.shapes.paging import Page
from postmill.shapes.retention import RetentionChange, RetentionRule, RetentionRules


def list_retention(*, tenant: str | None = None) -> Call[RetentionRules]:
    """The rules in force, of everybody or of a tenant."""
    return get(at("retention"), model(RetentionRules), tenant=tenant)


def set_retention(
    subject: str,
    keep_seconds: float | None,
    *,
    tenant: str | None = None,
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> Call[RetentionRule]:
    """Keeps something for so many seconds from now on; None is for ever."""
    # A model, so that None is sent: it means for ever.
    body = RetentionChange(keep_seconds=keep_seconds, **({} if reason is None else {"reason": reason}))
    path = at("retention", subject)
    return write("PUT", path, model(RetentionRule), body, key=idempotency_key, query={"tenant": tenant})


def unset_retention(
    subject: str, *, tenant: str | None = None, reason: str | None = None, idempotency_key: str | None = None
) -> Call[RetentionRule]:
    """Takes such a rule back."""
    query = {"tenant": tenant, "reason": reason}
    return write("DELETE", at("retention", subject), model(RetentionRule), key=idempotency_key, query=query)


def list_archive(
    *,
    source: str | None = None,
    status: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[ArchiveUnit]]:
    """Units of the cold archive, the latest stretch of time first."""
    return get(
        at("archive"), model(Page[ArchiveUnit]), source=source, status=status, limit=limit, cursor=cursor
    )


def get_archived_job(job_id: Id) -> Call[ArchivedJob]:
    """What the archive has of one job. NotFound: nothing."""
    return get(at("archive", "jobs", job_id), model(ArchivedJob))


def get_archive_state() -> Call[ArchiveState]:
    """Whether an archive is required, and what waits for it."""
    return get(at("archive", "state"), model(ArchiveState))


def switch_archive(
    required: bool, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[ArchiveState]:
    """Requires the archive, or drops what is past its retention without it."""
    body = {"required": required, "reason": reason}
    return write("PUT", at("archive", "state"), model(ArchiveState), body, key=idempotency_key)
