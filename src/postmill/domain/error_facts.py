"""What an exception carries, read by the usual attribute names of HTTP clients, database drivers and the OS.

Attributes of foreign exceptions are properties that may raise; nothing here does.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from postmill.domain.retry_after import retry_after
from postmill.domain.text import clean

# A group of more errors than this says no more about retrying.
_MOST_LEAVES = 100


@dataclass(frozen=True, slots=True)
class Facts:
    """HTTP status (400 to 599), error code, wait that a server asked for, and what the class itself says."""

    status: int | None
    code: str | None
    retry_after: float | None
    retryable: bool | None


def facts_of(error: BaseException, now: datetime | None) -> Facts:
    """The facts of one exception (not of a group)."""
    response = _attribute(error, "response")
    own = _attribute(error, "retryable")
    said = own if isinstance(own, bool) else None
    reply = _mail_reply(error)
    if reply is not None:
        return Facts(None, str(reply), _wait(error, response, now), reply < 500 if said is None else said)
    return Facts(_status(error, response), _code(error), _wait(error, response, now), said)


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The single errors inside nested exception groups; the error itself where it is none."""
    waiting, given = [error], 0
    while waiting and given < _MOST_LEAVES:
        current = waiting.pop()
        if isinstance(current, BaseExceptionGroup):
            waiting.extend(reversed(current.exceptions))
        else:
            given += 1
            yield current


def _attribute(thing: object, name: str) -> object:
    try:
        return getattr(thing, name, None)
    except Exception:
        return None


def _mail_reply(error: BaseException) -> int | None:
    """What a mail server replied, of smtplib's errors and aiosmtplib's. Its 4yz are for now and its 5yz for good (RFC 5321,
    4.2.1): as HTTP statuses they would mean the opposite."""
    if all(one.__name__ != "SMTPResponseException" for one in type(error).__mro__):
        return None
    return next(
        (
            reply
            for name in ("smtp_code", "code")
            if (reply := _as_status(_attribute(error, name))) is not None
        ),
        None,
    )


def _status(error: BaseException, response: object) -> int | None:
    for thing, names in (
        (error, ("status_code", "status", "http_status")),
        (response, ("status_code", "status")),
    ):
        for name in names:
            if (status := _as_status(_attribute(thing, name))) is not None:
                return status
    # SystemExit has a `code` too, but no HTTP status.
    return None if isinstance(error, SystemExit) else _as_status(_attribute(error, "code"))


def _as_status(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
        return int(value)
    return None


def _code(error: BaseException) -> str | None:
    for thing in (error, _attribute(error, "orig")):  # SQLAlchemy keeps the driver's error in `orig`
        for name in ("sqlstate", "pgcode", "code", "error_code"):
            value = _attribute(thing, name)
            if isinstance(value, str) and value:
                return clean(value, 128)
    number = _attribute(error, "errno")
    return errno.errorcode.get(number) if isinstance(number, int) else None


def _wait(error: BaseException, response: object, now: datetime | None) -> float | None:
    direct = retry_after(_attribute(error, "retry_after"), now)
    if direct is not None:
        return direct
    for thing in (response, error):
        headers = _attribute(thing, "headers")
        for name in ("retry-after", "Retry-After"):
            try:
                value = headers.get(name)  # type: ignore[attr-defined]  # whatever has a working `get` will do
            except Exception:
                break
            if value is not None:
                return retry_after(value, now)
    return None
