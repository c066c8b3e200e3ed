"""Renewal: never two of one account at once, and what happens when somebody dies or is stopped in the middle."""

from __future__ import annotations

import asyncio

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr

from examples.homepage.social.refresh import refresh
from examples.homepage.social.renewal import Busy
from examples.homepage.social.vault import Vault, VaultError
from examples.homepage.tests.site import Site
from examples.homepage.tests.social.accounts import account, standing_of, vault, workers
from examples.upstreams.social.server import SocialServer

LATE = "3 hours"


async def test_two_workers_never_renew_one_account_at_once(site: Site, upstream: SocialServer) -> None:
    """Ten at one moment: one renews, the others leave it alone; then all is well."""
    id = await account(site, upstream, "ada")
    async with workers(site, LATE) as (pool, social):
        upstream.open.clear()
        done = [asyncio.create_task(refresh(pool, social, id)) for _ in range(10)]
        await asyncio.to_thread(upstream.renewed.wait, 10)
        first, _ = await asyncio.wait(done, return_when=asyncio.FIRST_COMPLETED)
        assert first
        while sum(task.done() for task in done) < 9:
            await asyncio.wait(
                [task for task in done if not task.done()], return_when=asyncio.FIRST_COMPLETED
            )
        upstream.open.set()
        results = await asyncio.gather(*done, return_exceptions=True)
        assert sorted(map(str, results)) == [""] * 9 + ["refreshed"]
        assert sum(isinstance(result, Busy) for result in results) == 9
        assert upstream.refreshes == {"ada": 1}
        assert await refresh(pool, social, id) == "refreshed"


async def test_who_is_stopped_in_the_middle_stores_what_was_renewed(
    site: Site, upstream: SocialServer
) -> None:
    """A timeout of the job, or the end of the worker: the new refresh token is kept."""
    id = await account(site, upstream, "ada")
    async with workers(site, LATE) as (pool, social):
        upstream.open.clear()
        task = asyncio.create_task(refresh(pool, social, id))
        await asyncio.to_thread(upstream.renewed.wait, 10)
        task.cancel()
        upstream.open.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await standing_of(site, id))["version"] == 2
        assert await refresh(pool, social, id) == "refreshed"
    assert upstream.refreshes == {"ada": 1}


@pytest.mark.parametrize(("heard", "outcome"), [(False, "refreshed"), (True, "reauthorize")])
async def test_after_a_death_the_old_token_is_tried_once(
    site: Site, upstream: SocialServer, heard: bool, outcome: str
) -> None:
    """Before the network has heard of it nothing is lost; after that its owner is asked, and nobody else is in the way."""
    id = await account(site, upstream, "ada")
    async with workers(site, LATE) as (pool, social):
        row = await standing_of(site, id)
        async with pool.connection() as conn:
            await conn.execute(
                "update social_accounts set renewing_until = postmill.now() + interval '1 minute' where id = %s",
                (id,),
            )
        if heard:
            await social.network.renew(vault().open(id, row["tokens"]))
        with pytest.raises(Busy):
            await refresh(pool, social, id)
    async with workers(site, "182 min") as (pool, social):
        assert await refresh(pool, social, id) == outcome
        assert (await standing_of(site, id))["renewing_until"] is None
        assert await refresh(pool, social, id) == ("gone" if heard else "refreshed")


async def test_tokens_of_one_account_open_no_other(site: Site, upstream: SocialServer) -> None:
    """Copied from row to row, changed, or with another key."""
    id, other = await account(site, upstream, "ada"), await account(site, upstream, "bob")
    sealed = (await standing_of(site, id))["tokens"]
    assert "ACCESS" in vault().open(id, sealed).access.get_secret_value()
    assert "ACCESS" not in repr(vault().open(id, sealed))
    for what, whose, by in (
        (sealed, other, vault()), (sealed[:-2] + b"AA", id, vault()), (sealed, id, Vault([])), (sealed, id, _other()),
    ):  # fmt: skip
        with pytest.raises(VaultError):
            by.open(whose, what)


def _other() -> Vault:
    return Vault([SecretStr(Fernet.generate_key().decode())])
