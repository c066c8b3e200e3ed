"""The cold archive, as people read it. Flows, to be run as those of `commands` are; files are read by `postmill.archive`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from postmill.archive.reading import ArchivedRow
from postmill.domain.encryption import KeyRing
from postmill.domain.errors import NotFound
from postmill.domain.redaction import redacted
from postmill.operate.payloads import readable, secret_names
from postmill.store import archive as store
from postmill.store.archive import UnitView
from postmill.store.audit import MAX_ID, MAX_TIME
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow

_PAGE = 200


@dataclass(slots=True)
class ArchivedJob:
    """What the archive has of one job: its body, attempts, outcome and dead letter, as rows of their tables."""

    id: UUID
    job: dict[str, Any] | None = None
    attempts: list[dict[str, Any]] = field(default_factory=list)
    outcome: dict[str, Any] | None = None
    dead_letter: dict[str, Any] | None = None

    @classmethod
    def of(cls, id: UUID, rows: Iterable[ArchivedRow]) -> ArchivedJob:
        """Raises NotFound where there is nothing of it."""
        made = cls(id)
        for row in rows:
            if row.source == "attempt":
                made.attempts.append(row.values())
            elif row.source in ("job", "outcome", "dead_letter"):
                setattr(made, row.source, row.values())
        if made.job is None and made.outcome is None and made.dead_letter is None and not made.attempts:
            raise NotFound(f"the cold archive has nothing of the job {id}")
        made.attempts.sort(key=lambda attempt: attempt["run"])
        return made


def archived_units(
    *, job: UUID | None = None, source: str | None = None, schema: str = DEFAULT_SCHEMA
) -> Flow[list[UnitView]]:
    """Every unit that is in the archive, the latest stretch first; `job`: those that may speak of it."""
    found = yield from all_units(job=job, source=source, status="archived", schema=schema)
    return found


def all_units(
    *,
    job: UUID | None = None,
    source: str | None = None,
    status: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[UnitView]]:
    """Every unit, those that wait and those that were deleted, too, the latest stretch first."""
    found: list[UnitView] = []
    before = (MAX_TIME, MAX_ID)
    while True:
        page: list[UnitView] = yield store.units(
            before=before, most=_PAGE, source=source, status=status, job=job, schema=schema
        )
        found += page
        if len(page) < _PAGE:
            return found
        before = (page[-1].until, page[-1].id)


def shown(found: ArchivedJob, ring: KeyRing | None, *, schema: str = DEFAULT_SCHEMA) -> Flow[ArchivedJob]:
    """The job with payload and result as they may be shown to somebody who may see payloads."""
    if found.job is not None:
        names = yield from secret_names(found.job["job_type"], schema)
        payload = readable(found.job["payload"], UUID(found.job["tenant_id"]), found.job["job_type"], ring)
        found.job["payload"] = redacted(payload, names)
    else:
        names = ()
    if found.outcome is not None:
        found.outcome["result"] = redacted(found.outcome["result"], names)
    return found


def guarded(found: ArchivedJob) -> ArchivedJob:
    """The same without a database that knows the definition: what looks like a secret is not shown."""
    for row, name in ((found.job, "payload"), (found.outcome, "result")):
        if row is not None:
            row[name] = redacted(row[name], ())
    return found


def switch(on: bool, *, reason: str | None = None, schema: str = DEFAULT_SCHEMA) -> Flow[bool]:
    """Whether history goes to the archive before it is dropped. Off: what waits for it is dropped without; on: a worker
    with an archive takes up. Whether that was changed.

    Raises:
        NotFound: whoever asks is not of the platform.
    """
    status = yield store.switch(on, reason=reason, schema=schema)
    if status == "out_of_scope":
        raise NotFound("only the platform switches the archive")
    return bool(status == "changed")
