"""Tokens are renewed by one worker at a time, and stored before anything else is done with them.

A refresh token is good for once. Whoever dies between the network's answer and our commit loses the new one; nothing else
lies between the two, and neither a timeout of the job nor the end of a worker does: the pair is done to its end. After a
death the old token is tried once more, because the network may not have heard of it; if it has, the account is to be
connected anew, and says so.
"""

from __future__ import annotations

import asyncio

from examples.homepage.resources import Pool
from examples.homepage.social.network import Revoked, Social
from examples.homepage.social.vault import Tokens
from examples.homepage.statements import Row, row


class Busy(Exception):
    """Another worker renews the tokens of this account."""


async def renew(pool: Pool, social: Social, account: Row, tokens: Tokens) -> Tokens:
    """New tokens, stored. `account` gets their version. Raises Busy, Revoked, ServiceError, VaultError."""
    async with pool.connection() as conn:
        if await row(conn, "begin_renewal", id=account["id"], version=account["version"]) is None:
            raise Busy
    pair = asyncio.ensure_future(_renew_and_store(pool, social, account, tokens))
    try:
        return await asyncio.shield(pair)
    except asyncio.CancelledError:
        await asyncio.wait({pair})
        raise


async def _renew_and_store(pool: Pool, social: Social, account: Row, tokens: Tokens) -> Tokens:
    fence = {"id": account["id"], "version": account["version"]}
    try:
        granted = await social.network.renew(tokens)
    except Revoked:
        raise
    except Exception:
        async with pool.connection() as conn:
            await row(conn, "end_renewal", **fence)
        raise
    sealed = social.vault.seal(account["id"], granted.tokens)
    async with pool.connection() as conn:
        stored = await row(conn, "store_renewal", **fence, tokens=sealed, lifetime=granted.lifetime)
    if stored is None:
        raise Busy
    account["version"] = stored["version"]
    return granted.tokens
