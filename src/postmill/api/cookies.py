"""The cookie of a login, and the protection of what it authenticates: a browser sends it for other sites' pages, too."""

from __future__ import annotations

import hmac
from hashlib import sha256
from urllib.parse import urlsplit

from fastapi import Request
from starlette.responses import Response

COOKIE = "postmill_session"
CSRF_HEADER = "X-CSRF-Token"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def csrf_token(cookie: str) -> str:
    """What a page of ours may know and another site's cannot: made from the cookie, which scripts do not see."""
    return sha256(b"postmill csrf " + cookie.encode("utf-8", "surrogatepass")).hexdigest()


def comes_from_here(request: Request, cookie: str, public_url: str | None) -> bool:
    """Whether an unsafe request with the cookie was made by a page of ours, or by a program that has the token.

    Browsers say where a request comes from (`Sec-Fetch-Site`, `Origin`): anything but here is refused. Without their
    word the token must be in the header `X-CSRF-Token`.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    if origin is not None:
        own = {f"{request.url.scheme}://{request.url.netloc}"}
        if public_url:
            parts = urlsplit(public_url)
            own.add(f"{parts.scheme}://{parts.netloc}")
        return origin in own
    return hmac.compare_digest(request.headers.get(CSRF_HEADER, "").encode(), csrf_token(cookie).encode())


def set_cookie(response: Response, request: Request, value: str, seconds: float) -> None:
    """For this origin and below our path; scripts do not see it, other sites' forms do not send it."""
    response.set_cookie(
        COOKIE,
        value,
        max_age=int(seconds),
        path=request.scope.get("root_path") or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def drop_cookie(response: Response, request: Request) -> None:
    """The browser forgets it."""
    response.delete_cookie(COOKIE, path=request.scope.get("root_path") or "/", httponly=True, samesite="lax")
