"""A service that the application has chosen: JSON from a fixed address, within bounds of size and time.

Its addresses are in our settings, so no guard of addresses is needed; redirects are not followed, because what we send may
hold a secret. Requests go to the transport itself: httpx's client logs the address of each one, where keys may be.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

import httpx
import psycopg

from examples.homepage.outbound.bounded import TooLarge, read_bounded

MOST_BYTES = 5 * 1024 * 1024


class ServiceError(Exception):
    """A service has not answered as it should. It is tried again, but for 4xx.

    The text has neither the address nor what was sent or answered: keys and tokens may be in them.

    Attributes:
        service: its name.
        kind: `http_503`, `timeout`, `connection_error`, `garbage` …: a label of metrics.
        status: of the answer, if it was an error of HTTP.
        retry_after: its headers of this name; the next attempt waits for as long as they say.
        answer: the JSON object of an error's body, for the caller's eyes only.
    """

    def __init__(
        self,
        service: str,
        kind: str,
        *,
        status: int | None = None,
        retry_after: list[str] | None = None,
        answer: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{service}: {kind}")
        self.service = service
        self.kind = kind
        self.status = status
        self.retry_after = retry_after or None
        self.answer = answer or {}


@contextmanager
def kept(service: str) -> Iterator[None]:
    """Around a statement that keeps what a service has said: what no database can hold (NUL, the 40th of May, a price without
    end, one row twice) is garbage of the service's, as what cannot be read."""
    try:
        yield
    except (psycopg.DataError, psycopg.IntegrityError, psycopg.errors.CardinalityViolation):
        raise ServiceError(service, "garbage") from None


class Service:
    """One service. `timeout` in seconds is that of a whole request."""

    def __init__(self, name: str, base_url: str, *, user_agent: str, timeout: float = 20.0) -> None:
        self.name = name
        self._base = httpx.URL(base_url.rstrip("/"))
        self._headers = {"User-Agent": user_agent, "Accept": "application/json", "Accept-Encoding": "gzip"}
        self._timeout = timeout
        self._transport = httpx.AsyncHTTPTransport(trust_env=False)

    async def json(
        self,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The object that a path answers; with a `form` it is a POST. Raises ServiceError."""
        request = httpx.Request(
            "GET" if form is None else "POST",
            f"{self._base}{path}",
            params=params,
            headers={**self._headers, "Host": self._base.netloc.decode(), **(headers or {})}
            | ({} if form is None else {"Content-Type": "application/x-www-form-urlencoded"}),
            content=None if form is None else urlencode(form),
            extensions={"timeout": httpx.Timeout(self._timeout).as_dict()},
        )
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._transport.handle_async_request(request)
                try:
                    body = await read_bounded(response.aiter_raw(), MOST_BYTES)
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.TimeoutException):
            raise ServiceError(self.name, "timeout") from None
        except TooLarge:
            raise ServiceError(self.name, "too_large") from None
        except httpx.HTTPError:
            raise ServiceError(self.name, "connection_error") from None
        return self._read(response, body)

    def _read(self, response: httpx.Response, body: bytes) -> dict[str, Any]:
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = None
        answer = found if isinstance(found, dict) else None
        if response.status_code != 200:
            raise ServiceError(
                self.name,
                f"http_{response.status_code}",
                status=response.status_code,
                retry_after=response.headers.get_list("Retry-After"),
                answer=answer,
            )
        if answer is None:
            raise ServiceError(self.name, "garbage")
        return answer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self._transport.aclose()
