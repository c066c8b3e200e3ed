"""The client of the enrichment service. It knows nothing of jobs; its errors say whether to try again."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from examples.enrichment.settings import AppSettings

PATH = "/v1/enrichments"


class Enrichment(BaseModel):
    """What the service found out about a text."""

    model_config = ConfigDict(frozen=True)

    language: str = Field(min_length=2, max_length=8)
    title: str = Field(min_length=1, max_length=200)
    key_phrases: list[str] = Field(max_length=20)
    summary: str = Field(min_length=1, max_length=2_000)


class ApiError(Exception):
    """Base of what goes wrong with the service. Postmill reads its attributes to decide on a retry."""

    retryable = True

    def __init__(
        self, code: str, message: str, *, status_code: int | None = None, retry_after: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status_code = status_code
        self.retry_after = retry_after


class ApiBusy(ApiError):
    """The service itself said when to come back (Retry-After, with 429 or 503)."""


class ApiUnavailable(ApiError):
    """No answer, or none that can be used: a broken connection, a time-out, a 5xx, garbage."""


class ApiRefused(ApiError):
    """The service will never take this request as it is (4xx)."""

    retryable = False


class EnrichmentApi:
    """One per event loop; keeps its connections open between calls."""

    def __init__(self, settings: AppSettings) -> None:
        key = settings.api_key
        self._http = httpx.AsyncClient(
            base_url=settings.api_url,
            timeout=settings.api_timeout,
            headers={"Authorization": f"Bearer {key.get_secret_value()}"} if key else {},
        )

    async def enrich(self, text: str) -> Enrichment:
        """What the service makes of a text. Raises ApiBusy, ApiUnavailable or ApiRefused."""
        try:
            response = await self._http.post(PATH, json={"text": text})
        except httpx.TimeoutException as error:
            raise ApiUnavailable("TIMEOUT", f"no answer in time ({type(error).__name__})") from error
        except httpx.HTTPError as error:
            raise ApiUnavailable("CONNECTION", f"the connection broke ({type(error).__name__})") from error
        if response.status_code != 200:
            raise _refusal(response)
        try:
            return Enrichment.model_validate_json(response.content)
        except ValidationError as error:
            raise ApiUnavailable("BAD_ANSWER", "an answer that is no enrichment", status_code=None) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _refusal(response: httpx.Response) -> ApiError:
    status, wait = response.status_code, response.headers.get("retry-after")
    code = f"HTTP_{status}"
    if status in (429, 503) and wait is not None:
        return ApiBusy(code, f"{status}: come back in {wait} s", status_code=status, retry_after=wait)
    if status in (408, 425, 429) or status >= 500:
        return ApiUnavailable(code, f"{status}: {response.reason_phrase}", status_code=status)
    return ApiRefused(code, f"{status}: {response.text[:200]}", status_code=status)
