"""Logins of the console: opened by a one-time link or an API key, looked at, ended."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from starlette.responses import JSONResponse, Response

from postmill.api.asked import Asked, may
from postmill.api.backend import Backend
from postmill.api.cookies import COOKIE, csrf_token, drop_cookie, set_cookie
from postmill.api.problems import unauthorized
from postmill.api.routing import new_router
from postmill.bind import arun
from postmill.domain.access import PERMISSIONS, Principal
from postmill.domain.secret import hashed, new_secret
from postmill.shapes.session import OpenSession, Session
from postmill.store.access import FoundLogin, close_login, open_login

router = new_router("session")

NO_TRACE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
"""What carries a secret in its address is neither kept nor told to others."""


@router.post("/session", operation_id="open_session", status_code=201, response_model=Session)
async def open_session(body: OpenSession, request: Request) -> Response:
    """Exchange a login link's token, which holds once, or an API key for a cookie."""
    cookie, login = await _open(request, body.token)
    answer = JSONResponse(_session(_principal(login), login, cookie).model_dump(mode="json"), 201, NO_TRACE)
    return _with_cookie(answer, request, cookie)


@router.get("/session", operation_id="get_session")
async def get_session(request: Request, asked: Annotated[Asked, Depends(may(None))]) -> Session:
    """Who I am, and what I may."""
    login: FoundLogin | None = getattr(request.state, "login", None)
    return _session(asked.principal, login, request.cookies.get(COOKIE) if login else None)


@router.delete("/session", operation_id="close_session", status_code=204)
async def close_session(request: Request, asked: Annotated[Asked, Depends(may(None))]) -> Response:
    """Log out. An API key is not a login: to end one, revoke it."""
    cookie = request.cookies.get(COOKIE)
    answer = Response(status_code=204)
    if cookie is not None and getattr(request.state, "login", None) is not None:
        async with asked.backend.pool.connection() as conn:
            await arun(conn, close_login(hashed(cookie), asked.request_id, schema=asked.schema))
        drop_cookie(answer, request)
    return answer


async def _open(request: Request, token: str) -> tuple[str, FoundLogin]:
    backend: Backend = request.app.state.backend
    cookie = new_secret()
    statement = open_login(
        hashed(token),
        cookie.hash,
        backend.settings.server.session,
        request.state.request_id,
        schema=backend.schema,
    )
    async with backend.pool.connection() as conn:
        login = await arun(conn, statement)
    if login is None:
        raise unauthorized("this link was used, is over, or never was; postmill login prints a new one")
    return cookie.clear, login


def _with_cookie(answer: Response, request: Request, cookie: str) -> Response:
    backend: Backend = request.app.state.backend
    set_cookie(answer, request, cookie, backend.settings.server.session)
    return answer


def _principal(login: FoundLogin) -> Principal:
    return Principal("user", login.actor_id, login.role, login.tenant_id, "console")


def _session(principal: Principal, login: FoundLogin | None, cookie: str | None) -> Session:
    return Session(
        actor_type=principal.actor_type,
        actor_id=principal.actor_id,
        role=principal.role,
        tenant_id=principal.tenant_id,
        may=sorted(PERMISSIONS[principal.role]),
        expires_at=login.expires_at if login else None,
        csrf_token=csrf_token(cookie) if cookie else None,
    )
