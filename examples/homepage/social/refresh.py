"""One account: its tokens opened, renewed where they end, and its posts kept."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from examples.homepage.outbound.services import kept
from examples.homepage.resources import Pool
from examples.homepage.social.network import NAME, Granted, Revoked, Social
from examples.homepage.social.renewal import renew
from examples.homepage.social.vault import Tokens, Vault
from examples.homepage.statements import Connection, Row, row

Outcome = Literal["refreshed", "reauthorize", "gone"]


async def connect(conn: Connection, vault: Vault, remote_id: str, handle: str, granted: Granted) -> UUID:
    """Keep an account that somebody has connected, or connected anew: what the end of an OAuth sign-in calls."""
    known = await row(conn, "account_id", remote_id=remote_id)
    assert known is not None
    sealed = vault.seal(known["id"], granted.tokens)
    await row(
        conn,
        "connect_account",
        **known,
        remote_id=remote_id,
        handle=handle,
        tokens=sealed,
        lifetime=granted.lifetime,
    )
    found: UUID = known["id"]
    return found


async def refresh(pool: Pool, social: Social, account_id: UUID) -> Outcome:
    """What became of an account. Raises Busy, ServiceError, VaultError."""
    async with pool.connection() as conn:
        account = await row(conn, "account", id=account_id)
    if account is None:
        return "gone"
    tokens = social.vault.open(account_id, account["tokens"])
    try:
        return await _posts(pool, social, account, tokens)
    except Revoked as revoked:
        async with pool.connection() as conn:
            fence = {"id": account_id, "version": account["version"]}
            marked = await row(conn, "account_reauthorize", **fence, error=str(revoked))
        return "gone" if marked is None else "reauthorize"


async def _posts(pool: Pool, social: Social, account: Row, tokens: Tokens) -> Outcome:
    if account["expiring"]:
        tokens = await renew(pool, social, account, tokens)
    elif social.vault.is_old(account["tokens"]):
        await _reseal(pool, social, account, tokens)
    try:
        posts = await social.network.posts(account["remote_id"], tokens.access)
    except Revoked:
        if account["expiring"]:
            raise
        # It may have ended before its time: the refresh token knows.
        tokens = await renew(pool, social, account, tokens)
        posts = await social.network.posts(account["remote_id"], tokens.access)
    async with pool.connection() as conn:
        with kept(NAME):
            await row(conn, "keep_posts", id=account["id"], posts=Jsonb(posts))
    return "refreshed"


async def _reseal(pool: Pool, social: Social, account: Row, tokens: Tokens) -> None:
    sealed = social.vault.seal(account["id"], tokens)
    before = account["tokens"]
    async with pool.connection() as conn:
        await row(
            conn, "reseal_tokens", id=account["id"], version=account["version"], tokens=sealed, before=before
        )
