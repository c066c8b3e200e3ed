"""What an act has to say, shown once by the next page: carried by a cookie of a minute."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from fastapi import Request
from starlette.responses import Response

COOKIE = "postmill_said"
SECONDS = 60
LONGEST = 600


@dataclass(frozen=True, slots=True)
class Flash:
    """A message; `kind` is done, warning or refused."""

    message: str
    kind: str


def put(answer: Response, request: Request, message: str, kind: str) -> None:
    """For the page that comes next."""
    value = urlencode({"kind": kind, "message": message[:LONGEST]})
    answer.set_cookie(
        COOKIE,
        value,
        max_age=SECONDS,
        path=request.scope.get("root_path") or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def take(request: Request) -> Flash | None:
    """What is there to be said."""
    value = request.cookies.get(COOKIE)
    if not value:
        return None
    given = dict(parse_qsl(value[: 10 * LONGEST]))
    kind = given.get("kind", "")
    if not given.get("message"):
        return None
    return Flash(given["message"][:LONGEST], kind if kind in ("done", "warning", "refused") else "done")


def drop(answer: Response, request: Request) -> None:
    """It was said."""
    answer.delete_cookie(COOKIE, path=request.scope.get("root_path") or "/", httponly=True, samesite="lax")
