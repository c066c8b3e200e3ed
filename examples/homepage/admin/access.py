"""Who is let in: whoever has the token; where there is none, whoever is on this machine."""

from __future__ import annotations

import secrets

from fastapi import HTTPException, Request, status

from examples.homepage.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def administrator(request: Request) -> None:
    """Lets through whoever has ADMIN_TOKEN; everybody where none is set. Raises 401."""
    settings: Settings = request.app.state.settings
    if settings.admin_token is None:
        return
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    wanted = settings.admin_token.get_secret_value()
    if kind != "Bearer" or not secrets.compare_digest(given.encode(), wanted.encode()):
        raise HTTPException(
            status.HTTP_401_UNAUTHORIZED, "send ADMIN_TOKEN as a bearer token", {"WWW-Authenticate": "Bearer"}
        )


def may_listen(settings: Settings, host: str) -> bool:
    """Whether the API may be published there: without a token on this machine only."""
    return settings.admin_token is not None or host in LOOPBACK
