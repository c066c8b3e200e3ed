"""Accounts of the tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from pydantic import SecretStr

from examples.homepage.outbound.services import Service
from examples.homepage.resources import Pool, pool_of
from examples.homepage.settings import Settings
from examples.homepage.social.network import NAME, Granted, Network, Social
from examples.homepage.social.refresh import connect
from examples.homepage.social.settings import from_environment
from examples.homepage.social.vault import Tokens, Vault
from examples.homepage.tests.site import Row, Site
from examples.upstreams.social.server import SocialServer

POST = {"id": "1", "text": "Good morning", "created_at": "2026-11-28T08:00:00.000Z"}


def vault() -> Vault:
    """With the keys of the environment."""
    return Vault(from_environment().token_keys)


async def account(site: Site, upstream: SocialServer, name: str) -> UUID:
    """An account that has just been connected, with a post."""
    upstream.posts[name] = [POST]
    made = upstream.connect(name)
    tokens = Tokens(SecretStr(made["access_token"]), SecretStr(made["refresh_token"]))
    return await connect(site.conn, vault(), name, f"@{name}", Granted(tokens, made["expires_in"]))


async def standing_of(site: Site, account_id: UUID) -> Row:
    """The row of an account."""
    return await site.row("select * from social_accounts where id = %s", account_id)


@asynccontextmanager
async def workers(site: Site, later: str) -> AsyncIterator[tuple[Pool, Social]]:
    """What a worker has, so much later."""
    settings = from_environment()
    async with (
        pool_of(Settings(database_url=SecretStr(site.later(later)))) as pool,
        Service(NAME, settings.base_url, user_agent="tests") as service,
    ):
        yield pool, Social(Network(service, settings), vault())
