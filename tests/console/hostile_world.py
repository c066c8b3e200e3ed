"""The two tenants' world with hostile texts everywhere, under a console; and a third tenant, to be broken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from tests.access.world import Tenant, build, tables
from tests.console.doors import Door, filled
from tests.console.harness import Console
from tests.console.hostile import HOSTILE_TYPE, spoil, vector
from tests.support.api import opened
from tests.support.databases import Database

OWN, OTHER, BROKEN = "ada-mark", "bob-mark", "cyd-mark"


@dataclass
class World:
    """Attributes:
    console: of the database.
    own, other, broken: Ada, who asks; Bob, whose things they are; and one who may be broken.
    spoilt: the columns that hold hostile texts.
    """

    console: Console
    own: Tenant
    other: Tenant
    broken: Tenant
    spoilt: set[str]

    def path(self, door: Door, slug: str, has: Tenant) -> str:
        """A door's path with a tenant's things."""
        return filled(door, slug, has, HOSTILE_TYPE, **{"budget-named": has.mark + vector("name")})

    async def picture(self, tenant: Tenant) -> list[tuple[Any, ...]]:
        """Every row of a tenant, by table."""
        api = self.console.api
        names = [row[0] for row in await api.rows(TABLES)]
        parts = [
            f"select '{name}', count(*), md5(string_agg(t::text, ',' order by t::text)) from postmill.{name} t"
            " where tenant_id = %s"
            for name in names
        ]
        states = (
            "select 'states', count(*), string_agg(s.state, ',' order by s.id) from postmill.job_state(%s) s"
        )
        asked = "select 'asked', count(*), '' from postmill.cancel_request where job_id = any(%s)"
        return await api.rows(
            " union all ".join([*parts, states, asked]),
            *[tenant.id] * len(names), *[list(tenant.ids.values())] * 2,
        )  # fmt: skip


TABLES = """select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'postmill'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1"""


def made(conn: Connection[Any]) -> tuple[list[Tenant], set[str]]:
    """The tenants, and the columns that are spoilt."""
    tenants = build(conn, OWN, OTHER, BROKEN)
    assert set(tables(conn))
    for tenant in tenants:
        [(tenant.ids["worker"],)] = conn.execute(
            "select holder from postmill.running where id = %s", [tenant.ids["running"]]
        ).fetchall()
    return tenants, spoil(conn, tenants)


@asynccontextmanager
async def hostile_world(database: Database) -> AsyncIterator[World]:
    """Builds it in an empty database."""

    def build_it() -> tuple[list[Tenant], set[str]]:
        with database.connect() as conn:
            return made(conn)

    (own, other, broken), spoilt = await asyncio.to_thread(build_it)
    async with opened(database, rate_per_key=1e6) as api:
        api.tenants |= {tenant.mark: tenant.id for tenant in (own, other, broken)}
        yield World(Console(api), own, other, broken, spoilt)
