"""Statements on the kept answers to HTTP requests that carry an Idempotency-Key."""

from __future__ import annotations

from dataclasses import dataclass

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is known of a key: new | held (a request with it is under way) | other (was another request) | done.

    With done comes the answer; without a body where it was not to be kept.
    """

    outcome: str
    status: int | None = None
    content_type: str | None = None
    location: str | None = None
    body: bytes | None = None


def recall_answer(key: str, request_hash: bytes, *, schema: str = DEFAULT_SCHEMA) -> Statement[Recalled]:
    """What is known of this principal's key. After `new` the key is held until the transaction ends."""
    return Statement(
        "recall_answer",
        sql("http/recall_answer", schema),
        (key, request_hash),
        lambda rows: Recalled(*rows[0]),
    )


def keep_answer(
    key: str,
    request_hash: bytes,
    status: int,
    content_type: str | None,
    location: str | None,
    body: bytes | None,
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[None]:
    """Keeps the answer for 24 hours."""
    args = (key, request_hash, status, content_type, location, body)
    return Statement("keep_answer", sql("http/keep_answer", schema), args, lambda rows: None)
