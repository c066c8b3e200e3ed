"""The API in this process: an application on a database, and clients with keys of every role."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx
from fastapi import FastAPI
from psycopg import AsyncConnection

from postmill.bind import adrive
from postmill.console import create_app
from postmill.domain.access import Role
from postmill.domain.settings import Settings
from postmill.operate.keys import create_key
from postmill.operate.tenants import create_tenant
from tests.support.databases import Database

BASE = "http://api.test"


@dataclass
class Api:
    """The application, a connection of the owner beside it, and two tenants."""

    app: FastAPI
    database: Database
    owner: AsyncConnection[Any]
    tenants: dict[str, UUID] = field(default_factory=dict)
    keys: dict[tuple[Role, str | None], str] = field(default_factory=dict)
    clients: list[httpx.AsyncClient] = field(default_factory=list)

    async def tenant(self, slug: str) -> UUID:
        """A tenant by its slug, made where it is not there."""
        if slug not in self.tenants:
            self.tenants[slug] = (await adrive(self.owner, create_tenant(slug))).id
        return self.tenants[slug]

    async def key(self, role: Role, tenant: str | None = None) -> str:
        """A key of this role, in a tenant or of the platform."""
        if (role, tenant) not in self.keys:
            if tenant is not None:
                await self.tenant(tenant)
            made = await adrive(self.owner, create_key(f"{role} {tenant}", role, tenant=tenant))
            self.keys[role, tenant] = made.key
        return self.keys[role, tenant]

    async def client(
        self, role: Role = Role.TENANT_ADMIN, tenant: str | None = "acme", **options: Any
    ) -> httpx.AsyncClient:
        """A client with such a key; paths are below /api/v1."""
        key = await self.key(role, tenant)
        made = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app, raise_app_exceptions=False, **options),
            base_url=f"{BASE}/api/v1",
            headers={"Authorization": f"Bearer {key}"},
        )
        self.clients.append(made)
        return made

    async def define(self, key: str, **columns: Any) -> None:
        """A job definition, by plain SQL."""
        await self.owner.execute(
            "select * from postmill.register_job_types(%s::text::jsonb)",
            [json.dumps([{"key": key, **columns}])],
        )

    async def rows(self, query: str, *args: Any) -> list[tuple[Any, ...]]:
        """Rows as the owner sees them."""
        return await (await self.owner.execute(query.encode(), args)).fetchall()


@asynccontextmanager
async def opened(
    database: Database, *, others: Mapping[str, Any] | None = None, **server: Any
) -> AsyncIterator[Api]:
    """An application on the database, with these settings of the server, and others."""
    settings = Settings.model_validate({"database_url": database.dsn, "server": server, **(others or {})})
    app = create_app(settings)
    async with app.router.lifespan_context(app), await database.aconnect() as owner:
        # Connections that were still being opened would be the first test's leak.
        await app.state.backend.pool.wait()
        api = Api(app, database, owner)
        try:
            yield api
        finally:
            for client in api.clients:
                await client.aclose()


def problem(answer: httpx.Response, status: int, kind: str) -> Mapping[str, Any]:
    """The problem document of an answer, which must be of this kind."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["type"] == f"urn:postmill:problem:{kind}", document
    assert document["status"] == status
    assert document["request_id"] == answer.headers["x-request-id"]
    return document


def unknown_id() -> str:
    """An id of nothing."""
    return str(uuid4())
