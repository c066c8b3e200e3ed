"""What the API answers where it cannot serve a request: what is wrong, and never what was sent.

FastAPI would say it again, and what JSON of the caller's may hold (NaN, half a character) cannot always be written: a mistake
of his would be answered as one of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import psycopg
from fastapi import FastAPI, HTTPException, Request, Response, status
from fastapi.exceptions import RequestValidationError
from psycopg_pool import PoolTimeout
from starlette.exceptions import HTTPException as Refused
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST = 1024 * 1024
"""Bytes of a request's body: those of the largest payload that a job may have."""
SOON = {"Retry-After": "1"}


def harden(app: FastAPI, uploads: re.Pattern[str]) -> None:
    """Bound what is read, and give every fault of a request or of the database its answer.

    `uploads`: paths whose handlers read bodies themselves, and bound them.
    """
    app.add_middleware(BodyLimit, most=MOST, uploads=uploads)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    for unfit in (psycopg.DataError, psycopg.errors.ProgramLimitExceeded):
        app.add_exception_handler(unfit, _unstorable)
    for away in (psycopg.OperationalError, PoolTimeout):
        app.add_exception_handler(away, _away)


class BodyLimit:
    """Answers 413 to a body of more bytes than `most`: at once where its length is told, else as soon as it is passed."""

    def __init__(self, app: ASGIApp, most: int, uploads: re.Pattern[str]) -> None:
        self._app = app
        self._uploads = uploads
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or self._uploads.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
            return
        told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if told.isdigit() and int(told) > self._most:
            await answer(413, self._why())(scope, receive, send)
            return
        came = 0

        async def counted() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > self._most:
                raise HTTPException(413, self._why())
            return message

        await self._app(scope, counted, send)

    def _why(self) -> str:
        return f"a body has at most {self._most} bytes"


def answer(code: int, detail: Any, headers: Mapping[str, str] | None = None) -> Response:
    """As FastAPI's own, in ASCII: so it can say whatever it has to."""
    return Response(json.dumps({"detail": detail}), code, headers, media_type="application/json")


async def _refused(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, Refused)
    return answer(fault.status_code, fault.detail, fault.headers)


async def _invalid(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, RequestValidationError)
    told = [{name: one[name] for name in ("type", "loc", "msg")} for one in fault.errors()]
    return answer(status.HTTP_422_UNPROCESSABLE_CONTENT, told)


async def _unstorable(request: Request, fault: Exception) -> Response:
    """NUL in a text, a moment that no calendar has, a number without end."""
    return answer(status.HTTP_422_UNPROCESSABLE_CONTENT, "a value cannot be stored")


async def _away(request: Request, fault: Exception) -> Response:
    return answer(status.HTTP_503_SERVICE_UNAVAILABLE, "the database does not answer; try again", SOON)
