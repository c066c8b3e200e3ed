"""API keys, and logins as those see them who answer for them."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query, Response

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.errors import NotPermitted
from postmill.operate import keys
from postmill.shapes.keys import Ended, Key, Login, MadeKey, NewKey
from postmill.shapes.paging import Page
from postmill.store.keys import list_keys as keys_of
from postmill.store.keys import list_logins as logins_of

router = new_router("keys")

Reason = Annotated[str | None, Query(max_length=2000, description="Why; for the audit log.")]


@router.get("/keys", operation_id="list_keys")
async def list_keys(
    asked: Annotated[Asked, Depends(may(Action.KEYS_READ))],
    limit: Limit = 50,
    cursor: Cursor = None,
    live: Annotated[bool, Query(description="Without those revoked or over.")] = False,
) -> Page[Key]:
    """API keys, the newest first."""
    before = parts_of(cursor, UUID)[0] if cursor else None
    found = await asked.run(keys_of(before=before, most=limit, live=live, schema=asked.schema))
    items = [Key.model_validate(key) for key in found]
    return Page(items=items, next=cursor_of(items[-1].id) if len(items) == limit else None)


@router.post("/keys", operation_id="create_key", status_code=201)
async def create_key(
    body: NewKey, response: Response, asked: Annotated[Asked, Depends(may(Action.KEYS_WRITE))]
) -> MadeKey:
    """Make an API key. Nobody hands out a role above his own, or one in another tenant."""
    flow = keys.create_key(
        body.name,
        body.role,
        tenant=body.tenant,
        expires_at=body.expires_at,
        by=asked.principal,
        schema=asked.schema,
    )
    response.headers["Cache-Control"] = "no-store"
    try:
        return MadeKey.model_validate(await asked.drive(flow))
    except NotPermitted as fault:
        raise await asked.denied("keys.create", str(fault), target=f"role {body.role}") from None


@router.delete("/keys/{key_id}", operation_id="revoke_key")
async def revoke_key(
    key_id: UUID, asked: Annotated[Asked, Depends(may(Action.KEYS_WRITE))], reason: Reason = None
) -> Ended:
    """Revoke a key; the next request with it is refused."""
    status = await asked.drive(keys.revoke_key(key_id, reason=reason, schema=asked.schema))
    asked.backend.keys.forget()
    return Ended(id=key_id, status=status)


@router.get("/logins", operation_id="list_logins")
async def list_logins(
    asked: Annotated[Asked, Depends(may(Action.KEYS_READ))],
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Login]:
    """Logins that hold, the newest first."""
    found = await asked.run(
        logins_of(before=parts_of(cursor, UUID)[0] if cursor else None, most=limit, schema=asked.schema)
    )
    items = [Login.model_validate(login) for login in found]
    return Page(items=items, next=cursor_of(items[-1].id) if len(items) == limit else None)


@router.delete("/logins/{login_id}", operation_id="end_login")
async def end_login(
    login_id: UUID, asked: Annotated[Asked, Depends(may(Action.KEYS_WRITE))], reason: Reason = None
) -> Ended:
    """End somebody's login; his next request is refused."""
    return Ended(
        id=login_id, status=await asked.drive(keys.end_login(login_id, reason=reason, schema=asked.schema))
    )
