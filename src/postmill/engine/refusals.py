"""Claimed tickets that cannot start."""

from __future__ import annotations

from postmill.domain.error_record import ErrorRecord
from postmill.engine.reports import Report
from postmill.engine.work import EXPIRED, JOB_TYPE, Work


def refusal(work: Work) -> Report | None:
    """The report of a ticket without a body, or past its time; None: it can start."""
    if work.row[JOB_TYPE] is None:
        error = ErrorRecord("BodyMissing", message="the job's body is gone")
        return Report(work, "bury", None, 0, reason="undecodable", error=error)
    if work.row[EXPIRED]:
        return Report(work, "bury", None, 0, reason="expired")
    return None
