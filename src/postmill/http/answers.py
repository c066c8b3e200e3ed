"""Responses: what they say, or the error that they are."""

from __future__ import annotations

from typing import TypeVar

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from postmill.http.call import Call
from postmill.http.errors import BY_STATUS, ApiError, FieldError, UnexpectedAnswer

T = TypeVar("T")

MEDIA_TYPE = "application/problem+json"
SHOWN = 500
"""Characters that are shown of an answer that is no problem document."""


class _Problem(BaseModel):
    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = None
    request_id: str | None = None
    errors: tuple[FieldError, ...] = ()


def is_answer(call: Call[object], response: httpx.Response) -> bool:
    """Whether the response is what was asked for, and no error."""
    return response.is_success or response.status_code in call.answers


def answer(call: Call[T], response: httpx.Response) -> T:
    """What a response with a good status says.

    Raises UnexpectedAnswer where it says something else than it should.
    """
    try:
        return call.decode(response)
    except (ValidationError, UnicodeDecodeError) as fault:
        raise UnexpectedAnswer(
            f"{call}: the answer {response.status_code} is none of Postmill's API as this version knows it; is"
            f" {response.url.copy_with(query=None)} the right address? {fault}"
        ) from None


def error(response: httpx.Response) -> ApiError:
    """The error that a response is."""
    status = response.status_code
    kind = BY_STATUS.get(status, ApiError)
    if response.headers.get("content-type", "").partition(";")[0] == MEDIA_TYPE:
        try:
            told = _Problem.model_validate_json(response.content)
        except ValidationError:
            pass  # of somebody before the server: shown as it is
        else:
            more = told.model_extra or {}
            return kind(status, told.type, told.title, told.detail, told.request_id, told.errors, more)
    detail = response.text[:SHOWN] or "the answer says nothing more"
    if response.is_redirect:
        detail = f"it leads to {response.headers.get('location')}; give that address"
    return kind(status, "about:blank", response.reason_phrase, detail, response.headers.get("x-request-id"))
