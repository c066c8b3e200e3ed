"""The control plane of the tests: the API on a database, two tenants with their admins, and a quick `zoltag`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from examples.photos import bodies
from postmill.domain.access import Role
from tests.support.api import Api, opened
from tests.support.databases import Database

PROVIDER = "6f46a1d8-6e2b-4ecf-8b46-9ec2e6a37f09"
ARGV = ["zoltag", "{key}", "--tenant-id", "{tenant_id}"]
TOKEN = "sl.u.B4" + "aZ-_9" * 12

# Says what it was given; fails, or goes on, where the path says so.
ZOLTAG = f"""#!/bin/sh
echo "$@"
case "$*" in
*/fail*) echo '400 Invalid authorization value in HTTP header "Authorization": "Bearer {TOKEN}".' >&2
         echo 'zoltag: with {TOKEN}' >&2; exit 69 ;;
*/hang*) exec sleep 60 ;;
esac
"""


@dataclass
class World:
    """Clients by who asks: `root` is a super admin, the others are admins of a tenant each."""

    api: Api
    root: httpx.AsyncClient
    clients: dict[str, httpx.AsyncClient] = field(default_factory=dict)
    tenants: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def admin(self, slug: str) -> httpx.AsyncClient:
        """A tenant's admin; tenant, key and triggers are made over HTTP."""
        if slug not in self.clients:
            made = await self.ok(
                self.root.post("/tenants", json={"slug": slug, "timezone": "America/New_York"}), 201
            )
            self.tenants[slug] = made["id"]
            key = await self.ok(
                self.root.post("/keys", json={"name": slug, "role": "tenant_admin", "tenant": slug}), 201
            )
            client = await self.api.client(Role.TENANT_ADMIN, slug + "-spare")
            client.headers["Authorization"] = f"Bearer {key['key']}"
            self.clients[slug] = client
            for body in bodies.triggers():
                await self.ok(client.post("/jobs/triggers", json=body), 201)
        return self.clients[slug]

    @staticmethod
    async def ok(asking: Any, status: int = 200) -> Any:
        """The JSON of an answer, which must have this status."""
        answer: httpx.Response = await asking
        assert answer.status_code == status, answer.text
        return answer.json()

    async def becomes(
        self, client: httpx.AsyncClient, id: str, *states: str, within: float = 10.0
    ) -> dict[str, Any]:
        """The job, once it is in one of these states."""
        async with asyncio.timeout(within):
            while True:
                found: dict[str, Any] = await self.ok(client.get(f"/jobs/{id}"))
                if found["status"] in states:
                    return found
                await asyncio.sleep(0.01)

    async def attempts(self, client: httpx.AsyncClient, id: str) -> list[dict[str, Any]]:
        """Every execution of a job."""
        found: list[dict[str, Any]] = (await self.ok(client.get(f"/jobs/{id}/attempts")))["items"]
        return found


@asynccontextmanager
async def world(database: Database, folder: Path) -> AsyncIterator[World]:
    """The API with the four definitions, posted as the seed has them; `zoltag` is first in PATH."""
    program = folder / "zoltag"
    program.write_text(ZOLTAG)
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        async with opened(database, others={"commands": {"argv_template": ARGV}}) as api:
            made = World(api, await api.client(Role.SUPER_ADMIN, None))
            for body in bodies.definitions():
                made.definitions[body["key"]] = await made.ok(
                    made.root.post("/admin/jobs/definitions", json=body), 201
                )
            yield made
