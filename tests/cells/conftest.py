"""Two cells: two databases of one server, and a tenant in the first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
import pytest
from pydantic import SecretStr

from postmill.domain.settings_cells import CellSettings
from postmill.local.server import LocalServer
from tests.support.databases import Database, fresh_database

Conn = psycopg.Connection[Any]


@dataclass(frozen=True)
class Two:
    """Cell a, which holds the directory, and cell b."""

    a: Conn
    b: Conn
    cells: dict[str, CellSettings]
    acme: UUID
    other: UUID


@pytest.fixture
def second(cluster: LocalServer, template: str) -> Iterator[Database]:
    """The database of cell b."""
    with fresh_database(cluster, template) as found:
        yield found


@pytest.fixture
def two(database: Database, second: Database) -> Iterator[Two]:
    """Both cells, and two tenants in cell a."""
    cells = {
        "a": CellSettings(database_url=SecretStr(database.dsn), directory=True),
        "b": CellSettings(database_url=SecretStr(second.dsn)),
    }
    with database.connect() as a, second.connect() as b:
        made = [
            a.execute("select id from postmill.door_create_tenant(%s, '{}')", [slug]).fetchone()
            for slug in ("acme", "other")
        ]
        assert made[0]
        assert made[1]
        register(a)
        yield Two(a, b, cells, made[0][0], made[1][0])


def register(conn: Conn) -> None:
    """The job types `work` and `jot` in a cell."""
    conn.execute("insert into postmill.queue (name) values ('default'), ('quick') on conflict do nothing")
    conn.execute(
        "insert into postmill.job_definition (key, queue, max_attempts) values ('work', 'default', 3), ('jot', 'quick', 3)"
        " on conflict do nothing"
    )


def enqueue(conn: Conn, tenant: UUID, **options: Any) -> UUID:
    """A job by SQL."""
    named = "".join(f", {name} => %({name})s" for name in options)
    row = conn.execute(
        f"select postmill.enqueue('work', '{{}}', tenant => %(tenant)s{named})", {"tenant": tenant} | options
    ).fetchone()
    assert row is not None
    return UUID(str(row[0]))


def tickets(conn: Conn, tenant: UUID) -> dict[str, set[UUID]]:
    """Where a tenant's jobs wait or run."""
    found: dict[str, set[UUID]] = {}
    for place in ("ready", "scheduled", "blocked", "running", "dead_letter"):
        found[place] = {
            row[0]
            for row in conn.execute(
                f"select t.id from postmill.{place} t join postmill.any_job j on j.id = t.id where j.tenant_id = %s",
                [tenant],
            )
        }
    return {name: ids for name, ids in found.items() if ids}
