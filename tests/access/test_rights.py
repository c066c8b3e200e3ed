"""Roles of the database: an owner who may make none is told what to do; a server needs no more than it is granted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from postmill.bind import drive, run
from postmill.cli.securing import SECURE
from postmill.cli.serving import check
from postmill.domain.access import Role
from postmill.domain.settings import Settings
from postmill.operate.keys import create_key
from postmill.schema.runner import migrate
from postmill.store.access import entrances
from tests.cli.support import cli
from tests.support.api import opened
from tests.support.databases import Database, administered, fresh_database

pytestmark = pytest.mark.matrix


READS = (
    *(
        "/session",
        "/jobs",
        "/jobs/summary",
        "/tenants",
        "/keys",
        "/logins",
        "/audit",
        "/audit/log",
        "/queues",
    ),
    *("/doctor", "/top", "/workers", "/dead-letters", "/admin/jobs/definitions", "/jobs/triggers", "/events"),
)


@dataclass(frozen=True)
class As(Database):
    """A database as another role sees it."""

    role: str = "postgres"

    @property
    def dsn(self) -> str:
        return self.server.dsn(self.name).replace("://postgres@", f"://{self.role}@")


def known_as(database: Database, role: str) -> As:
    return As(database.server, database.name, role)


@contextmanager
def roles(pg: Connection[Any], *statements: str) -> Iterator[None]:
    """Roles of this test; they belong to the whole cluster."""
    names = [text.split()[2] for text in statements]
    for text in statements:
        pg.execute(text.encode())
    try:
        yield
    finally:
        for name in names:
            pg.execute(f"drop owned by {name} cascade; drop role {name}".encode())


def test_an_owner_who_may_make_no_roles_is_told_what_to_do(own_cluster: Any) -> None:
    """The migration goes through, no request is served, and what the message says helps."""
    with (
        administered(own_cluster, "postgres"),
        fresh_database(own_cluster, "template0") as database,
        database.connect() as pg,
    ):
        # The cluster's own database was migrated by its superuser: as if nobody had ever been here.
        with psycopg.connect(own_cluster.dsn(), autocommit=True) as other:
            other.execute("drop owned by postmill_reader, postmill_request cascade")
            other.execute("drop role postmill_reader; drop role postmill_request")
        with roles(pg, "create role tenant_owner login"):
            pg.execute(f"grant create on database {database.name} to tenant_owner".encode())
            as_owner = known_as(database, "tenant_owner")
            migrated = cli("migrate", dsn=as_owner.dsn)
            assert migrated.code == 0
            assert (
                "no HTTP server can start on this schema yet: the roles postmill_reader and" in migrated.err
            )
            assert "select postmill.secure_requests();" in migrated.err
            with as_owner.connect() as owner:
                found = run(owner, entrances())
                assert found.unsecured == "the roles postmill_reader and postmill_request do not exist"
                with pytest.raises(Exception, match="requests cannot be kept within their tenants") as caught:
                    check(found, Settings())
                assert getattr(caught.value, "hint", "") == SECURE.format(schema="postmill")
                said = [line.strip() for line in SECURE.format(schema="postmill").splitlines()]
                for line in said[1:3]:
                    pg.execute(line.replace("<the schema's owner>", "tenant_owner").encode())
                assert owner.execute(said[3].partition(": ")[2].encode()).fetchone() == (True,)
                assert run(owner, entrances()).unsecured is None
            pg.execute("drop owned by postmill_reader, postmill_request cascade")
        pg.execute("drop role postmill_reader; drop role postmill_request")


async def test_a_server_that_owns_nothing(pg: Connection[Any], database: Database) -> None:
    """With grant_server alone requests are served; outside of them it sees nothing, and RESET ROLE leads nowhere."""
    key = drive(pg, create_key("root", Role.SUPER_ADMIN)).key
    with roles(pg, "create role mill_server login noinherit"):
        as_server = known_as(database, "mill_server")
        with as_server.connect() as conn, pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("select postmill.requests_secured()")
        pg.execute("select postmill.grant_server('mill_server')")
        async with opened(as_server) as api:
            # The connection beside the application is the server's own, by which no keys can be made.
            api.keys[Role.SUPER_ADMIN, None] = key
            client = await api.client(Role.SUPER_ADMIN, None)
            for path in READS:
                answer = await client.get(path)
                assert answer.status_code == 200, (path, answer.text)
            made = await client.post("/tenants", json={"slug": "made"})
            assert made.status_code == 201, made.text
            assert (
                await client.post("/keys", json={"name": "x", "role": "viewer", "tenant": "made"})
            ).status_code == 201
            assert (await client.get("http://api.test/readyz")).json() == {"ready": True}
            assert (await client.get("http://api.test/metrics")).status_code == 200
            rows = pg.execute(
                "select db_role from postmill.audit_log where action = 'tenants.create'"
            ).fetchall()
            assert rows == [("mill_server",)]
        with as_server.connect() as conn:
            for text in (
                "select * from postmill.jobs",
                "select * from postmill.api_key",
                "select * from postmill.job",
                "select postmill.door_create_tenant('x', '{}')",
                "select * from postmill.read_keys(null, 10)",
                "select postmill.enqueue('x')",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    conn.execute(text.encode())


def test_a_worker_lets_nobody_in(pg: Connection[Any], database: Database) -> None:
    with roles(pg, "create role mill_worker login"):
        pg.execute("select postmill.grant_worker('mill_worker')")
        with known_as(database, "mill_worker").connect() as conn:
            # It works as before: tables under policies hide nothing from who has rights on them.
            pg.execute("""select * from postmill.register_job_types('[{"key": "t"}]')""")
            pg.execute("select postmill.enqueue('t')")
            assert conn.execute("select count(*) from postmill.job").fetchone() == (1,)
            assert conn.execute("select count(*) from postmill.jobs").fetchone() == (1,)
            conn.execute("select postmill.sweep_logins(), postmill.advance_horizon()")
            conn.execute("select postmill.door_cancel_jobs(array(select id from postmill.job))")
            for text in (
                "select * from postmill.api_key",
                (
                    "insert into postmill.login_link (hash, actor_id, role, expires_at)"
                    " values (sha256('x'), 'x', 'super_admin', now())"
                ),
                "select * from postmill.door_create_key(sha256('x'), 'x', 'x', null, 'super_admin', null)",
                "select postmill.open_login(sha256('x'), sha256('y'), 1, null)",
                "delete from postmill.audit_log",
                "insert into postmill.audit_log select * from postmill.audit_log",
                "delete from postmill.audit_unsealed",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    conn.execute(text.encode())


def test_a_role_for_reports_reads_the_views_it_was_granted(pg: Connection[Any], database: Database) -> None:
    """As the reference tells: no function, no table; and all tenants, for it is no request."""
    pg.execute("""select * from postmill.register_job_types('[{"key": "t"}]')""")
    pg.execute("select postmill.enqueue('t')")
    with roles(pg, "create role mill_reports login"):
        pg.execute("grant usage on schema postmill to mill_reports")
        views = [row[0] for row in pg.execute("select viewname from pg_views where schemaname = 'postmill'")]
        for view in views:
            pg.execute(f"grant select on postmill.{view} to mill_reports".encode())
        with known_as(database, "mill_reports").connect() as conn:
            for view in views:
                conn.execute(f"select * from postmill.{view}".encode())
            assert conn.execute("select count(*) from postmill.jobs").fetchone() == (1,)


def test_two_schemas_in_a_database_do_not_meet(pg: Connection[Any], database: Database) -> None:
    """Each has request roles of its own."""
    migrate(database.dsn, "second")
    try:
        rows = pg.execute(
            "select has_schema_privilege('second_request', 'postmill', 'usage'),"
            " has_schema_privilege('postmill_request', 'second', 'usage')"
        ).fetchone()
        assert rows == (False, False)
        assert pg.execute("select second.requests_secured(), postmill.requests_secured()").fetchone() == (
            None,
            None,
        )
    finally:
        pg.execute(
            "drop schema second cascade; drop owned by second_reader, second_request; drop role second_reader, second_request"
        )


def test_securing_again_takes_no_lock(pg: Connection[Any], database: Database) -> None:
    """It runs with every migration: under load it must not wait for, or stop, anybody who enqueues."""
    with database.connect() as busy, busy.transaction():
        busy.execute("lock table postmill.job, postmill.outcome, postmill.attempt in row exclusive mode")
        pg.execute("set lock_timeout = '2s'")
        assert pg.execute("select postmill.secure_requests()").fetchone() == (True,)


def test_scope_is_of_the_transaction_only(pg: Connection[Any]) -> None:
    """A pooled connection goes back without role and tenant."""
    with pg.transaction():
        pg.execute(
            "select postmill.begin_request(gen_random_uuid(), false, 'api', 'user', 'x', 'viewer', 'r')"
        )
        # A server that is stopped just here would keep what it locked from all others.
        assert pg.execute("show idle_in_transaction_session_timeout").fetchone() == ("1min",)
        assert pg.execute("select current_user, postmill.sees_all(), postmill.scope_tenant() is null").fetchone() == (
            "postmill_request", False, False,
        )  # fmt: skip
    row = pg.execute("select current_user, postmill.sees_all(), postmill.scope_tenant() is null").fetchone()
    assert row == ("postgres", True, True)
    with pg.transaction():
        pg.execute("select postmill.begin_request(null, false, 'api', 'user', 'x', 'viewer', 'r')")
        row = pg.execute(
            "select postmill.sees_all(), postmill.in_scope(gen_random_uuid()), postmill.in_scope(null)"
        ).fetchone()
        assert row == (False, False, False)


def test_the_policy_costs_no_index(pg: Connection[Any]) -> None:
    """A body by its id, a page of the newest, a tenant's part of the log: by index under the policy, too."""
    pg.execute(
        "insert into postmill.tenant (id, slug, name) select gen_random_uuid(), 't' || g, 't' from generate_series(1, 200) g"
    )
    pg.execute("select postmill.audit('a', null, null, t.id) from postmill.tenant t, generate_series(1, 20)")
    pg.execute("analyze postmill.audit_log")
    with pg.transaction():
        row = pg.execute("select id, postmill.new_id() from postmill.tenant where slug = 't7'").fetchone()
        assert row is not None
        pg.execute("select set_config('postmill.tenant_id', %s, true)", [str(row[0])])
        pg.execute(
            "set local role postmill_reader; set local enable_seqscan = off; set local enable_bitmapscan = off"
        )
        plans = {
            "id": f"select * from postmill.job where id = '{row[1]}'",
            "newest": "select * from postmill.job order by id desc limit 50",
            "log": "select * from postmill.audit_log where tenant_id = postmill.scope_tenant()"
            " order by at desc, id desc limit 50",
        }
        found = {
            name: "\n".join(line[0] for line in pg.execute(f"explain (costs off) {text}".encode()))
            for name, text in plans.items()
        }
        pg.execute("reset role")
    assert "Index Cond: (id = " in found["id"], found
    assert "Index Scan Backward using job_" in found["newest"], found
    assert re.search(
        r"Index Scan Backward using audit_log_tenant .*\n.*Index Cond: \(tenant_id = ", found["log"]
    ), found
    # The scope is asked once a statement, not once a row.
    assert all("InitPlan" in plan for plan in found.values()), found
