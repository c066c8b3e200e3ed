"""The console on a socket, served as `postmill server` serves it, with a connection of the owner beside it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
from fastapi import FastAPI
from psycopg import AsyncConnection

from postmill.bind import adrive
from postmill.cli.serving import Server
from postmill.console import create_app
from postmill.console.live.hub import Hub
from postmill.domain.access import Role
from postmill.domain.settings import Settings
from postmill.engine.link import Link
from postmill.engine.outage import Outage
from postmill.engine.upkeep.monitor import Monitor
from postmill.engine.upkeep.roller import Roller
from postmill.operate.keys import create_link
from postmill.operate.tenants import create_tenant
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from tests.support.databases import Database
from tests.support.eventually import aeventually


@dataclass
class Live:
    """A server on a socket, its application, and a connection of the owner."""

    app: FastAPI
    server: Server
    serving: asyncio.Task[None]
    url: str
    dsn: str
    owner: AsyncConnection[Any]
    tenants: dict[str, UUID] = field(default_factory=dict)
    clients: list[httpx.AsyncClient] = field(default_factory=list)

    @property
    def hub(self) -> Hub:
        found: Hub = self.app.state.live
        return found

    async def browser(self, role: Role, tenant: str | None = None) -> httpx.AsyncClient:
        if tenant is not None and tenant not in self.tenants:
            self.tenants[tenant] = (await adrive(self.owner, create_tenant(tenant))).id
        client = self.anybody()
        assert (await client.get(f"/login?token={await self.token(role, tenant)}")).status_code == 303
        return client

    async def token(self, role: Role = Role.SUPER_ADMIN, tenant: str | None = None) -> str:
        return (await adrive(self.owner, create_link(f"{role}@{tenant}", role, tenant=tenant))).token

    def anybody(self) -> httpx.AsyncClient:
        # Longer than a stream is silent (15 s), and than a busy machine stands still: this process is server and browser.
        self.clients.append(httpx.AsyncClient(base_url=self.url, timeout=60))
        return self.clients[-1]

    async def ended(self, tenant: str, n: int = 1) -> None:
        """Jobs of this tenant ended, and a worker counted them."""
        for _ in range(n):
            await self.owner.execute(
                "select postmill.count_end(%s, 'q', 't', 'succeeded', 1, 1, 1)", [self.tenants[tenant]]
            )

    async def audited(self, action: str, tenant: str | None) -> None:
        await self.owner.execute(
            "select postmill.audit(%s, 'x', 'x', %s)", [action, self.tenants.get(tenant or "")]
        )

    async def listeners(self) -> int:
        [(n,)] = await (
            await self.owner.execute(
                "select count(*) from pg_stat_activity"
                " where datname = current_database() and application_name = 'postmill listener'"
            )
        ).fetchall()
        return int(n)

    async def round(self, kind: type[Roller] | type[Monitor]) -> None:
        """One round of upkeep, as some worker of the fleet does it."""
        link = Link(self.dsn, "postmill", "test", Outage(Bus(), "w"))
        made = Roller(link, Bus(), "w") if kind is Roller else Monitor(link, Bus(), "w", Counters())
        try:
            await made.guarded()
        finally:
            await link.drop()


@asynccontextmanager
async def serving(database: Database) -> AsyncIterator[Live]:
    settings = Settings.model_validate({"database_url": database.dsn})
    with socket.create_server(("127.0.0.1", 0)) as listener:
        app = create_app(settings)
        server = Server(app, settings)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        await aeventually(lambda: server.started)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with await database.aconnect() as owner:
            live = Live(app, server, task, url, database.dsn, owner)
            try:
                yield live
            finally:
                for client in live.clients:
                    await client.aclose()
                server.drain()
                await task
