"""What an attempt came to, in the words of the report functions of the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from postmill.domain.error_group import ErrorGroup
from postmill.domain.error_record import ErrorRecord
from postmill.engine.raw import Ids, Longs
from postmill.engine.work import JOB_TYPE, TENANT, Work

Verb = Literal["put_back", "refuse", "finish", "bury"]

HELD = float("inf")


@dataclass(slots=True)
class Report:
    """Everything but a success, which has a way of its own. `refuse`: its type is one that this worker does not know.

    Attributes:
        attempt_status: status of the attempt in history; None leaves none (it never started).
        delay: put_back: seconds until it is due; negative means ready at once, HELD until the pause of its
            type is over.
        status: finish: `failed` or `canceled`.
        group: of the error; the completer sets it.
    """

    work: Work
    verb: Verb
    attempt_status: str | None
    micros: int
    delay: float = -1.0
    status: str | None = None
    reason: str | None = None
    error: ErrorRecord | None = None
    deaths: int = 0
    exit_code: int | None = None
    pid: int | None = None
    stdout_tail: str | None = None
    stderr_tail: str | None = None
    group: ErrorGroup | None = None


def arguments(verb: Verb, holder: Any, reports: Sequence[Report]) -> list[Any]:
    """The arguments of `sql/report/<verb>.sql` for a batch."""
    works = [report.work for report in reports]
    if verb == "refuse":
        fences = [Ids([work.row[0] for work in works]), Longs([work.claim_no for work in works])]
        return [holder, *fences, [work.row[JOB_TYPE] for work in works]]
    head: list[Any] = [
        holder,
        Ids([work.row[0] for work in works]),
        Longs([work.claim_no for work in works]),
        Ids([work.row[TENANT] or b"\0" * 16 for work in works]),
        Longs([report.micros for report in reports]),
    ]
    attempts = [report.attempt_status for report in reports]
    errors = [report.error for report in reports]
    tail: list[Any] = [
        [error and error.error_class for error in errors],
        [error and error.error_code for error in errors],
        [error and error.message for error in errors],
        [error and error.status for error in errors],
        [error and error.stack for error in errors],
        [report.exit_code for report in reports],
        [report.pid for report in reports],
        [report.stdout_tail for report in reports],
        [report.stderr_tail for report in reports],
        [report.group and report.group.id for report in reports],
    ]
    if verb == "put_back":
        middle = [attempts, [report.delay for report in reports], [report.deaths for report in reports]]
    elif verb == "finish":
        middle = [[report.status for report in reports], attempts, [report.reason for report in reports]]
    else:
        middle = [attempts, [report.reason for report in reports]]
    return head + middle + tail
