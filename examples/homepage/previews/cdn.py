"""The content delivery network: Bunny's Storage API. A file is put there whole or not at all, as often as one likes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256

import httpx

from examples.homepage.outbound.services import ServiceError
from examples.homepage.previews.settings import PreviewSettings, preview_settings
from examples.homepage.settings import from_environment
from postmill import resource

NAME = "cdn"


class Cdn:
    """One storage zone. Its calls raise ServiceError."""

    def __init__(self, settings: PreviewSettings, user_agent: str) -> None:
        self._base = settings.storage_url or ""
        self._public = settings.public_url or self._base
        self._timeout = settings.timeout
        headers = {"AccessKey": settings.key.get_secret_value(), "User-Agent": user_agent}
        self._http = httpx.AsyncClient(headers=headers, timeout=settings.timeout, trust_env=False)

    async def put(self, name: str, data: bytes) -> str:
        """Put a file there, in place of one of this name; where visitors find it."""
        checksum = sha256(data).hexdigest().upper()
        headers = {"Checksum": checksum, "Content-Type": "application/octet-stream"}
        await self._asked("PUT", name, headers, data)
        return f"{self._public}/{name}"

    async def delete(self, name: str) -> None:
        """Take a file away; one that is not there is gone already."""
        try:
            await self._asked("DELETE", name, {}, b"")
        except ServiceError as error:
            if error.status != 404:
                raise

    async def aclose(self) -> None:
        """Close what is open."""
        await self._http.aclose()

    async def _asked(self, method: str, name: str, headers: dict[str, str], data: bytes) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._http.request(
                    method, f"{self._base}/{name}", headers=headers, content=data
                )
        except (TimeoutError, httpx.TimeoutException):
            raise ServiceError(NAME, "timeout") from None
        except httpx.HTTPError:
            raise ServiceError(NAME, "connection_error") from None
        if not answer.is_success:
            waits = answer.headers.get_list("Retry-After")
            status = answer.status_code
            raise ServiceError(NAME, f"http_{status}", status=status, retry_after=waits)


@resource
async def cdn() -> AsyncIterator[Cdn]:
    """Of a worker process."""
    made = Cdn(preview_settings(), from_environment().user_agent)
    try:
        yield made
    finally:
        await made.aclose()
