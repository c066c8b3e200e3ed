"""An abort that is meant to leave everything as it was: it happens only as long as it does."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from postmill.console.bulk.progress import Line
from postmill.operate import operations as acts
from postmill.store.flow import Flow
from postmill.store.operations import ChangedOperation


class TooLate(Exception):
    """Some of its jobs had their turn, or it may begin at any moment: nothing was changed."""


def undo(id: UUID, now: datetime | None, *, reason: str | None, schema: str) -> Flow[ChangedOperation]:
    """Aborts an operation that has done nothing, within the time in which it can be undone.

    Raises:
        TooLate: it is over; the transaction has to be rolled back.
        NotFound: there is no such operation.
    """
    before = yield from acts.operation(id, schema=schema)
    if not before.ended and not Line.of(before, now).undo:
        raise TooLate
    answer = yield from acts.change(id, "abort", reason=reason, schema=schema)
    # From here on no worker touches it: what is done now is all that there ever will be.
    after = yield from acts.operation(id, schema=schema)
    if answer.status == "aborted" and after.tried:
        raise TooLate
    return answer
