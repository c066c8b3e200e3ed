"""The header Idempotency-Key: a request that is sent again is answered again, and not done again.

It is about the HTTP request only; what makes two jobs one is `dedupe_key`. Kept for 24 hours, per principal, in the
transaction of what the request did: after whatever crash both are there or neither is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import NoReturn

from fastapi import Request
from pydantic_core import from_json
from starlette.responses import Response

from postmill.api.backend import Backend
from postmill.api.problems import Problem
from postmill.api.scope import begun
from postmill.bind import arun
from postmill.store.answers import Recalled, keep_answer, recall_answer

HEADER = "idempotency-key"
LONGEST = 255

Handle = Callable[[Request], Awaitable[Response]]


async def once(request: Request, key: str, handle: Handle) -> Response:
    """Handles the request, or answers as it was answered before.

    The same request has the same method, path and query, and a body of the same value, however that is written.
    An error is not kept: the request may be sent again, and is then tried again. Nor is an answer that says
    `Cache-Control: no-store`, such as a key's secret: its repetition is refused.

    Raises:
        Problem: 422 for a key that is none or was used for another request, 409 while the first one is under way, or
            where its answer was not kept.
    """
    if not 0 < len(key) <= LONGEST or not key.isascii() or not key.isprintable():
        raise Problem(422, "invalid-request", f"Idempotency-Key: 1 to {LONGEST} printable ASCII characters")
    backend: Backend = request.app.state.backend
    digest = await _digest(request)
    async with begun(backend, request.state.principal, request.state.request_id) as conn:
        found = await arun(conn, recall_answer(key, digest, schema=backend.schema))
        if found.outcome == "done":
            return _again(found)
        if found.outcome != "new":
            _refuse(found.outcome)
        request.state.held = conn
        response = await handle(request)
        private = "no-store" in response.headers.get("cache-control", "")
        row = keep_answer(
            key,
            digest,
            response.status_code,
            response.media_type or response.headers.get("content-type"),
            response.headers.get("location"),
            None if private else bytes(response.body),
            schema=backend.schema,
        )
        await arun(conn, row)
    return response


async def _digest(request: Request) -> bytes:
    made = hashlib.sha256(f"{request.method} {request.url.path}?{request.url.query}\n".encode())
    made.update(_meant(await request.body()))
    return made.digest()


def _meant(body: bytes) -> bytes:
    """A body's value, spelled in one way: blanks, escapes and the order of names say nothing.

    What cannot be read is taken as it came; such a request is refused, and nothing of it is kept.
    """
    try:
        return json.dumps(from_json(body, allow_inf_nan=False), sort_keys=True).encode()
    except ValueError:
        return body


def _again(found: Recalled) -> Response:
    if found.body is None or found.status is None:
        raise Problem(409, "answer-not-kept", "this request was done; its answer is shown only once")
    headers = {"Idempotency-Replayed": "true"}
    if found.location is not None:
        headers["Location"] = found.location
    return Response(found.body or None, found.status, headers, found.content_type)


def _refuse(outcome: str) -> NoReturn:
    if outcome == "held":
        raise Problem(
            409,
            "request-under-way",
            "a request with this Idempotency-Key is under way",
            headers={"Retry-After": "1"},
        )
    raise Problem(
        422, "key-reused", "this Idempotency-Key was used for another request; take a new one for each"
    )
