"""Failed attempts of this process by error group, until they are written; a flood of distinct errors is bounded."""

from __future__ import annotations

from time import monotonic
from typing import Any
from uuid import UUID

from postmill.domain.error_group import ErrorGroup, group_of, other_group
from postmill.domain.error_record import ErrorRecord
from postmill.engine.rollup_cell import moment_text

GROUPS_AT_MOST = 200
"""Groups of one job type that a process tells apart within an hour; further ones are `other`."""

_FORGET_EVERY = 3600.0


class Failures:
    """Names groups, and counts."""

    def __init__(self) -> None:
        self._known: dict[str, set[ErrorGroup]] = {}
        self._since = monotonic()
        self._counts: dict[tuple[ErrorGroup, bytes], dict[str, Any]] = {}

    def group(self, job_type: str, error: ErrorRecord) -> ErrorGroup:
        """The group of an error, or `other` if its job type has many already."""
        if monotonic() - self._since > _FORGET_EVERY:
            self._known, self._since = {}, monotonic()
        known, group = self._known.setdefault(job_type, set()), group_of(job_type, error)
        if group not in known:
            if len(known) >= GROUPS_AT_MOST:
                return other_group(job_type)
            known.add(group)
        return group

    def add(self, group: ErrorGroup, error: ErrorRecord, tenant: bytes, job_id: bytes, moment: float) -> None:
        """Count one; `moment` in seconds since 2000."""
        line = self._counts.setdefault((group, tenant), {"n": 0, "first_at": moment})
        line.update(
            n=line["n"] + 1,
            last_at=moment,
            job=job_id,
            error_code=error.error_code,
            error_status=error.status,
        )

    def take(self) -> list[dict[str, Any]]:
        """Rows of `error_group_part`."""
        counts, self._counts = self._counts, {}
        return [
            {
                "id": group.id,
                "tenant_id": str(UUID(bytes=tenant)),
                "job_type": group.job_type,
                "error_class": group.error_class,
                "message": group.message,
                "frame": group.frame,
                "error_code": line["error_code"],
                "error_status": line["error_status"],
                "first_at": moment_text(line["first_at"]),
                "last_at": moment_text(line["last_at"]),
                "n": line["n"],
                "job_id": str(UUID(bytes=line["job"])),
            }
            for (group, tenant), line in counts.items()
        ]
