"""Requests come from the networks of `server.allow_from`, whatever they carry."""

from __future__ import annotations

import httpx
import pytest

from postmill.domain.access import Role
from postmill.domain.settings import Settings
from tests.support.api import BASE, opened, problem
from tests.support.databases import Database


async def test_only_from_the_networks(database: Database) -> None:
    proxies = {"trusted_proxies": "10.1.1.1", "allow_from": "10.0.0.0/24, 2001:db8::/32"}
    async with opened(database, **proxies) as api:
        key = await api.key(Role.SUPER_ADMIN)

        async def asked(peer: str, path: str, forwarded: str | None = None) -> httpx.Response:
            transport = httpx.ASGITransport(api.app, client=(peer, 1))
            headers = {"Authorization": f"Bearer {key}"} | (
                {"X-Forwarded-For": forwarded} if forwarded else {}
            )
            async with httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers) as client:
                return await client.get(path)

        for peer in ("10.0.0.7", "2001:db8::5", "::ffff:10.0.0.9"):
            assert (await asked(peer, "/api/v1/keys")).status_code == 200, peer
        for peer in ("10.0.1.7", "2001:db9::5", "nonsense"):
            problem(await asked(peer, "/api/v1/keys"), 403, "origin-refused")
        assert (await asked("10.0.1.7", "/login")).status_code == 403
        assert (await asked("10.0.1.7", "/readyz")).status_code == 200
        assert (await asked("10.1.1.1", "/api/v1/keys", "10.0.0.7")).status_code == 200
        assert (await asked("10.1.1.1", "/api/v1/keys", "10.9.9.9")).status_code == 403
        assert (await asked("10.2.2.2", "/api/v1/keys", "10.0.0.7")).status_code == 403
        await api.owner.execute("select 1")


def test_networks_are_networks() -> None:
    with pytest.raises(ValueError, match="is no network"):
        Settings.model_validate({"server": {"allow_from": "10.0.0.1/8"}})
