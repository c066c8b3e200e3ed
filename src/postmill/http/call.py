"""One request, as data: what both clients send."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx
from pydantic import BaseModel
from pydantic_core import to_json

from postmill.domain.errors import InvalidValue

M = TypeVar("M", bound=BaseModel)
T_co = TypeVar("T_co", covariant=True)

Id = UUID | str
Value = str | int | float | bool | UUID | datetime | Sequence[str] | None
Decode = Callable[[httpx.Response], T_co]

PREFIX = "/api/v1"


@dataclass(frozen=True)
class Call(Generic[T_co]):
    """A request of one operation.

    Attributes:
        path: below the server's address, quoted.
        query: what is None is left out.
        decode: makes the answer of a response with a status below 300, or one of `answers`.
        content: the body; a Path is a file whose content it is.
        repeatable: whether it may be sent again where nobody knows whether it was done.
        answers: further statuses that are answers, and no errors.
        patience: seconds that the server itself takes its time for.
    """

    method: str
    path: str
    decode: Decode[T_co]
    query: Mapping[str, Value] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | Path | None = None
    repeatable: bool = True
    answers: frozenset[int] = frozenset()
    patience: float = 0.0

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def at(*parts: object) -> str:
    """A path of the API, each part quoted.

    Raises InvalidValue for a part that would lead elsewhere: an empty one, `.` or `..`.
    """
    for part in parts:
        if str(part) in ("", ".", ".."):
            raise InvalidValue(f"{str(part)!r} names nothing: expected an id or a name")
    return PREFIX + "".join(f"/{quote(str(part), safe='')}" for part in parts)


def model(kind: type[M]) -> Decode[M]:
    """Reads an answer as a model."""
    return lambda response: kind.model_validate_json(response.content)


def nothing(response: httpx.Response) -> None:
    """The answer 204."""


def text(response: httpx.Response) -> str:
    """An answer that is text."""
    return response.text


def get(path: str, decode: Decode[T_co], **query: Value) -> Call[T_co]:
    """A request that changes nothing."""
    return Call("GET", path, decode, query)


def write(
    method: str,
    path: str,
    decode: Decode[T_co],
    body: Mapping[str, object] | BaseModel | None = None,
    *,
    key: str | None,
    query: Mapping[str, Value] | None = None,
    headers: Mapping[str, str | None] | None = None,
) -> Call[T_co]:
    """A request that changes something, once however often it is sent: it has an Idempotency-Key, `key` or a new one.

    Args:
        body: a model, without what was not set; or fields, without those that are None.
        headers: what is None is left out.
    """
    sent = {"Idempotency-Key": str(uuid4()) if key is None else key}
    return Call(
        method,
        path,
        decode,
        query or {},
        headers=json_headers(body) | sent | _given(headers or {}),
        content=json_of(body),
    )


def json_of(body: Mapping[str, object] | BaseModel | None) -> bytes | None:
    """A body as JSON."""
    if isinstance(body, BaseModel):
        return body.model_dump_json(exclude_unset=True).encode()
    return None if body is None else to_json(_given(body))


def json_headers(body: object) -> dict[str, str]:
    """What a request with this body says of it."""
    return {} if body is None else {"Content-Type": "application/json"}


def params(call: Call[object]) -> dict[str, str | list[str]]:
    """The query as text."""
    return {name: _written(value) for name, value in call.query.items() if value is not None}


def _written(value: Value) -> str | list[str]:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    return str(value)


def _given(fields: Mapping[str, T_co | None]) -> dict[str, T_co]:
    return {name: value for name, value in fields.items() if value is not None}
