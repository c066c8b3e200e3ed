"""POST to a service that is told something, and what its answer means."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import httpx

from postmill.alerts.channel import Undelivered
from postmill.domain.retry_after import retry_after

_BUSY = 429
_WAITING = (408, 409, 425, 500, 502, 503, 504)
_OF_MESSAGE = (400, 413, 422)


class Poster:
    """An HTTP client of one channel. `what` names it in errors; addresses are secret, and are not shown."""

    def __init__(self, what: str, timeout: float) -> None:
        self._what = what
        self._client = httpx.AsyncClient(timeout=timeout, follow_redirects=False)

    async def post(
        self, url: str, *, content: bytes, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """The answer, if it is a success.

        Raises:
            Undelivered: it is another one, or none came in time.
        """
        try:
            answer = await self._client.post(
                url, content=content, headers={"Content-Type": "application/json", **(headers or {})}
            )
        except httpx.InvalidURL:
            raise Undelivered(f"{self._what}: its address is no URL", again=False) from None
        except httpx.HTTPError as fault:
            raise Undelivered(f"{self._what}: {_kind(fault)}") from None
        if answer.is_success:
            return answer
        raise _refused(self._what, answer)

    async def close(self) -> None:
        """Closes its connections."""
        await self._client.aclose()


def _refused(what: str, answer: httpx.Response) -> Undelivered:
    status = answer.status_code
    asked: Any = answer.headers.get_list("Retry-After") or None
    wait = retry_after(asked, datetime.now(UTC)) if status == _BUSY or status in _WAITING else None
    if status == _BUSY:
        return Undelivered(f"{what}: answered 429, too many messages", wait=1.0 if wait is None else wait)
    said = " ".join(answer.text[:200].split())
    told = f"{what}: answered {status}" + (f" {said!r}" if said else "")
    again = status in _WAITING or status >= 500
    return Undelivered(told, again=again, of_message=status in _OF_MESSAGE, wait=wait)


def _kind(fault: httpx.HTTPError) -> str:
    """What went wrong, without the address."""
    if isinstance(fault, httpx.TimeoutException):
        return "no answer in time"
    if isinstance(fault, httpx.ConnectError):
        return "cannot be reached"
    return f"the connection failed ({type(fault).__name__})"
