"""Errors as problem documents (RFC 9457) with a stable `type`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import HTTPException as FastAPIHTTPException
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from postmill.api.allowed import allowed

MEDIA_TYPE = "application/problem+json"


class Problem(FastAPIHTTPException):
    """Ends a request with a problem document.

    Args:
        status: the HTTP status.
        kind: stable name of the kind of problem; the `type` is `urn:postmill:problem:<kind>`.
        detail: what was expected, what came, what to do.
        extra: further members of the document.
        headers: of the answer.
    """

    def __init__(
        self, status: int, kind: str, detail: str, *, headers: Mapping[str, str] | None = None, **extra: Any
    ) -> None:
        # One of the framework's own, which it hands on from wherever a body is read.
        super().__init__(status, detail, dict(headers or {}))
        self.status, self.kind, self.extra = status, kind, extra


def not_found(what: str) -> Problem:
    """404: it does not exist, or is not within the scope of who asks; the answer does not tell which."""
    return Problem(404, "not-found", f"there is no such {what}")


def unauthorized(detail: str) -> Problem:
    """401: there are no credentials, or they do not hold."""
    return Problem(401, "unauthorized", detail, headers={"WWW-Authenticate": "Bearer"})


def invalid(error: RequestValidationError) -> Problem:
    """422: parameters or fields are not what they should be; each is named."""
    errors = [
        {
            "at": "/".join(str(part) for part in fault["loc"]),
            "message": fault["msg"].removeprefix("Value error, "),
        }
        for fault in error.errors()
    ]
    detail = "; ".join(f"{fault['at']}: {fault['message']}" for fault in errors[:5])
    return Problem(422, "invalid-request", detail, errors=errors[:100])


async def answer(request: Request, problem: Problem) -> Response:
    """The document for a problem, or a page where a browser asked for one and the application has pages."""
    page = getattr(request.app.state, "problem_page", None)
    shown: Response | None = await page(request, problem) if page is not None else None
    if shown is not None:
        return shown
    document = {
        "type": f"urn:postmill:problem:{problem.kind}",
        "title": problem.kind.replace("-", " "),
        "status": problem.status,
        "detail": problem.detail,
        "instance": request.url.path,
        "request_id": getattr(request.state, "request_id", None),
        **problem.extra,
    }
    return JSONResponse(document, problem.status, dict(problem.headers or {}), MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Every error of the application leaves as a problem document."""

    @app.exception_handler(Problem)
    async def problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, Problem)
        return await answer(request, error)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        kinds = {404: "not-found", 405: "method-not-allowed"}
        kind = kinds.get(error.status_code, "http-error")
        headers = {"Allow": allowed(request)} if error.status_code == 405 else error.headers
        return await answer(request, Problem(error.status_code, kind, str(error.detail), headers=headers))

    @app.exception_handler(RequestValidationError)
    async def unfit(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return await answer(request, invalid(error))
