"""Trying again: which failures may be over soon, and how long to wait for that."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic

import httpx

from postmill.http.answers import error, is_answer
from postmill.http.call import Call
from postmill.http.errors import ApiError, Unreachable

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0

NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
GATEWAY = frozenset({502, 503, 504})
"""Answers of a server that cannot work, or of what stands before it: whether the request was done is not known."""


class Tries:
    """The tries of one request.

    Each `after_…` says how many seconds to wait before the next one, or raises what ends them: whatever cannot become
    better, what must not be sent twice, and what would take longer than `retry_for` seconds from the first try on.
    """

    def __init__(self, call: Call[object], retry_for: float) -> None:
        self._call = call
        self._end = monotonic() + retry_for
        self._pause = FIRST_PAUSE

    def after_failure(self, fault: httpx.RequestError) -> float:
        """No answer came."""
        sent = not isinstance(fault, (*NOT_SENT, *HOPELESS))
        ended = Unreachable(str(self._call), f"{type(fault).__name__}: {fault}", sent)
        if isinstance(fault, HOPELESS) or (sent and not self._call.repeatable):
            raise ended from fault
        return self._next(ended, fault)

    def after_answer(self, response: httpx.Response) -> float | None:
        """An answer came; None: it is one, and no error."""
        if is_answer(self._call, response):
            return None
        found = error(response)
        if not self._passes(found):
            raise found
        return self._next(found, None, _retry_after(response))

    def _passes(self, found: ApiError) -> bool:
        if found.status == 429:
            return True
        under_way = found.status == 409 and found.kind == "request-under-way"
        return self._call.repeatable and (found.status in GATEWAY or under_way)

    def _next(self, ended: Exception, cause: Exception | None, least: float = 0.0) -> float:
        pause = max(least, self._pause * random.uniform(0.5, 1.0))
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        if monotonic() + pause > self._end:
            raise ended from cause
        return pause


def _retry_after(response: httpx.Response) -> float:
    """Seconds, as the header Retry-After says: a number or a date (RFC 9110, section 10.2.3)."""
    said = response.headers.get("retry-after", "")
    if said.isascii() and said.isdigit():
        return float(said)
    try:
        moment = parsedate_to_datetime(said)
    except ValueError:
        return 0.0
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
