"""What goes wrong with the Gemini API, with what a decision on a retry needs to know."""

from __future__ import annotations

import errno
from typing import Any

import httpx
from pydantic import BaseModel, ValidationError

RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"
ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"


class GeminiError(Exception):
    """A call without a usable answer.

    Attributes:
        status: the HTTP status, where there was an answer.
        code: ETIMEDOUT, ECONNREFUSED, ECONNRESET … where there was none; BAD_ANSWER for one that cannot be read; else
            what Google calls it: RESOURCE_EXHAUSTED, INVALID_ARGUMENT, API_KEY_INVALID …
        retry_after: the wait that was asked for, as text or in seconds.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        retry_after: str | float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.retry_after = retry_after


class _Status(BaseModel):
    """google.rpc.Status as JSON; an answer of a proxy in between has none."""

    message: str = ""
    status: str = ""
    details: list[dict[str, Any]] = []


class _Body(BaseModel):
    error: _Status


def of_response(response: httpx.Response) -> GeminiError:
    """The error of an answer that is none."""
    try:
        said = _Body.model_validate_json(response.content).error
    except ValidationError:
        said = _Status(message=response.text[:200] or response.reason_phrase)
    code = next(
        (str(d["reason"]) for d in said.details if d.get("@type") == ERROR_INFO and "reason" in d), ""
    )
    return GeminiError(
        f"{response.status_code}: {said.message}",
        code=code or said.status or f"HTTP_{response.status_code}",
        status=response.status_code,
        retry_after=response.headers.get("retry-after") or _retry_delay(said.details),
    )


def of_transport(error: httpx.TransportError) -> GeminiError:
    """The error of a call that got no answer, by the names that the operating system has for it."""
    kind = type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        return GeminiError(f"no answer in time ({kind})", code="ETIMEDOUT")
    if isinstance(error, httpx.ConnectError):
        return GeminiError(f"no connection: {error}", code=_system_code(error))
    return GeminiError(f"the connection broke ({kind})", code="ECONNRESET")


def _system_code(error: BaseException) -> str:
    """What the operating system called it, somewhere among the causes."""
    cause: BaseException | None = error
    while cause is not None:
        name = errno.errorcode.get((isinstance(cause, OSError) and cause.errno) or 0)
        if name is not None:
            return name
        cause = cause.__cause__ or cause.__context__
    return "ECONNREFUSED"


def _retry_delay(details: list[dict[str, Any]]) -> float | None:
    """RetryInfo's delay, such as "34s" or "34.074824224s", in seconds."""
    for detail in details:
        if detail.get("@type") == RETRY_INFO:
            try:
                return float(str(detail.get("retryDelay", "")).removesuffix("s"))
            except ValueError:
                return None
    return None
