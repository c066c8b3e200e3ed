"""Forms that pages send: read strictly, and believed only if a page of ours has sent them."""

from __future__ import annotations

import hmac

from fastapi import Request

from postmill.api.cookies import COOKIE, csrf_token
from postmill.api.problems import Problem
from postmill.console.frame.arguments import Arguments

URLENCODED = "application/x-www-form-urlencoded"
CSRF_FIELD = "csrf"


async def read_form(request: Request) -> Arguments:
    """The fields of a form. Raises Problem: 415 for another kind of body, 422 for what is not text."""
    kind = request.headers.get("content-type", URLENCODED).partition(";")[0].strip().lower()
    if kind != URLENCODED:
        raise Problem(
            415, "unsupported-media-type", f"a form must be sent as {URLENCODED}, not {kind[:80]!r}"
        )
    try:
        return Arguments.parsed((await request.body()).decode("ascii"))
    except UnicodeDecodeError:
        raise Problem(422, "invalid-request", "a form's fields must be percent-encoded") from None


def check_token(request: Request, form: Arguments) -> None:
    """Raises Problem (403) where a login's cookie came without the token that our forms carry.

    Where a request comes from was checked before (`api.cookies`); both must hold.
    """
    cookie = request.cookies.get(COOKIE)
    if cookie is None or "authorization" in request.headers:
        return
    if not hmac.compare_digest(form.text(CSRF_FIELD).encode(), csrf_token(cookie).encode()):
        raise Problem(403, "cross-site", "this form is from another login, or not ours: load the page again")
