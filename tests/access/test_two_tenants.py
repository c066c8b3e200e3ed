"""Nothing that a request can call shows or changes what is another tenant's: every view, every read_ and door_ function.

The functions are called with everything that the other tenant owns as arguments: a check that was forgotten shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import psycopg
import psycopg.types.json
import pytest
from psycopg import Connection
from psycopg.sql import SQL, Identifier

from tests.access.conftest import OTHER, OWN
from tests.access.world import JOB_TYPE, QUEUE, Tenant, tables

MOST = 60
"""Calls of one function."""


def begin(world: Connection[Any], tenant: Tenant | None) -> None:
    """A request within a tenant, or of the platform."""
    began = world.execute(
        "select postmill.begin_request(%s, %s, 'api', 'user', 'ada', 'tenant_admin', 'r')",
        (None if tenant is None else tenant.id, tenant is None),
    ).fetchone()
    assert began == (True,)


def belongings(world: Connection[Any], tenant: Tenant) -> dict[str, list[str]]:
    """Every row of a tenant, as text."""
    found = {}
    for table in tables(world):
        text = SQL("select t::text from postmill.{} t where t.tenant_id = %s").format(Identifier(table))
        found[table] = sorted(row[0] for row in world.execute(text, [tenant.id]))
    ids = list(tenant.ids.values())
    for table in (
        "ready",
        "scheduled",
        "running",
        "dead_letter",
        "cancel_request",
        "queue",
        "job_definition",
        "tenant",
    ):
        column = {"cancel_request": "job_id", "queue": "name", "job_definition": "key"}.get(table, "id")
        wanted: Any = {"queue": [QUEUE], "job_definition": [JOB_TYPE], "tenant": [tenant.id]}.get(table, ids)
        text = SQL("select t::text from postmill.{} t where t.{} = any(%s)").format(
            Identifier(table), Identifier(column)
        )
        found[f"{table} by id"] = sorted(row[0] for row in world.execute(text, [wanted]))
    return found


def test_there_is_something_of_everybody_in_every_table(
    world: Connection[Any], tenants: list[Tenant]
) -> None:
    """Else the tests below would prove nothing for it: a new table needs an entry in tests/access/world.py."""
    for tenant in tenants:
        empty = [
            name for name, rows in belongings(world, tenant).items() if not rows and " by id" not in name
        ]
        assert empty == [], f"add to ROWS of tests/access/world.py: {empty}"


def test_every_table_with_a_tenant_that_can_be_read_is_under_the_policy(world: Connection[Any]) -> None:
    rows = world.execute(
        "select c.relname, c.relrowsecurity, array(select p.policyname || ' ' || p.permissive || ' ' || p.roles::text"
        "   from pg_policies p where p.schemaname = 'postmill' and p.tablename = c.relname order by 1)"
        " from pg_class c where c.relnamespace = 'postmill'::regnamespace and c.relname = any(%s)"
        " and has_any_column_privilege('postmill_reader', c.oid, 'select')",
        [[*tables(world), "tenant"]],
    ).fetchall()
    assert {name for name, _, _ in rows} >= {
        "job",
        "outcome",
        "attempt",
        "dead_letter",
        "audit_log",
        "api_key",
        "tenant",
    }
    policies = ["of_the_scope RESTRICTIVE {postmill_reader}", "whoever_has_rights PERMISSIVE {public}"]
    assert {name: (on, found) for name, on, found in rows if not (on and found == policies)} == {}


def test_the_request_role_reaches_no_table_and_no_secret(world: Connection[Any]) -> None:
    reach = (
        "select c.relname from pg_class c where c.relnamespace = 'postmill'::regnamespace and c.relkind in ('r', 'p', 'S')"
        " and (c.relkind <> 'S' and has_any_column_privilege(%s, c.oid, 'select, insert, update, references')"
        "      or c.relkind = 'S' and has_sequence_privilege(%s, c.oid, 'usage, select, update'))"
    )
    assert world.execute(reach, ["postmill_request"] * 2).fetchall() == []
    reader = {row[0] for row in world.execute(reach, ["postmill_reader"] * 2)}
    assert not {name for name in reader if name.endswith(("_secret", "_answer")) or name == "intake"}
    for table in ("api_key", "console_session", "login_link"):
        row = world.execute(
            "select has_column_privilege('postmill_reader', 'postmill.' || %s, 'hash', 'select')", [table]
        )
        assert row.fetchone() == (False,)
    writes = "select has_schema_privilege(r, 'postmill', 'create') from unnest(array['postmill_reader', 'postmill_request']) r"
    assert world.execute(writes).fetchall() == [(False,), (False,)]


def views(world: Connection[Any]) -> list[str]:
    return [
        row[0]
        for row in world.execute("select viewname from pg_views where schemaname = 'postmill' order by 1")
    ]


def test_no_view_shows_what_is_anothers(world: Connection[Any], tenants: list[Tenant]) -> None:
    own, other = tenants
    seen = {}
    for asking in (own, None):
        with world.transaction(force_rollback=True):
            begin(world, asking)
            for view in views(world):
                text = SQL("select coalesce(string_agg(v::text, ' '), '') from postmill.{} v").format(
                    Identifier(view)
                )
                row = world.execute(text).fetchone()
                assert row is not None
                seen[view, asking is None] = row[0]
    leaks = {
        view: trace
        for (view, all_), text in seen.items()
        if not all_
        for trace in other.traces
        if trace in text
    }
    assert leaks == {}
    # And the test can fail: the platform sees both, Ada her own.
    assert OTHER in seen["jobs", True]
    assert OWN in seen["jobs", True]
    assert OWN in seen["jobs", False]
    assert seen["job_workers", False] == ""


def test_a_route_that_forgets_its_condition_crosses_nothing(
    world: Connection[Any], tenants: list[Tenant]
) -> None:
    """A deliberately buggy statement: no WHERE at all, a join by nothing, an error as a leak, a count."""
    own, other = tenants
    with world.transaction(force_rollback=True):
        begin(world, own)
        rows = world.execute("select distinct tenant_id from postmill.jobs").fetchall()
        assert rows == [(own.id,)]
        assert world.execute(
            "select count(*) from postmill.jobs where tenant_id = %s", [other.id]
        ).fetchone() == (0,)
        crossed = "select count(*) from postmill.jobs a, postmill.any_job b where a.tenant_id <> b.tenant_id"
        assert world.execute(crossed).fetchone() == (0,)
        # A condition that is not leakproof runs after the policy: it never sees a row of another tenant.
        world.execute("select id from postmill.jobs where 1 / (case when payload::text like %s then 0 else 1 end) = 1",
                   [f"%{other.mark}%"])  # fmt: skip
        for text in (
            "select * from postmill.job",
            "select hash from postmill.api_key",
            "delete from postmill.job_definitions",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), world.transaction():
                world.execute(text)


def functions(world: Connection[Any]) -> Iterator[tuple[str, list[str]]]:
    """Every function that the request role may call and that is no helper: signature and types of its arguments."""
    rows = world.execute(
        "select p.oid::regproc::text, array(select format_type(t, null)"
        "   from unnest(p.proargtypes) with ordinality as a(t, n) order by n)"
        " from pg_proc p where p.pronamespace = 'postmill'::regnamespace"
        " and has_function_privilege('postmill_request', p.oid, 'execute')"
        " and (p.proname like 'read\\_%' or p.proname like 'door\\_%') order by 1"
    ).fetchall()
    assert len(rows) > 40
    yield from rows


HELPERS = {"now", "new_id", "id_at", "id_time", "scope_tenant", "sees_all", "in_scope", "ids_in_scope"}


def test_what_else_a_request_may_call(world: Connection[Any]) -> None:
    rows = world.execute(
        "select distinct p.proname from pg_proc p where p.pronamespace = 'postmill'::regnamespace"
        " and has_function_privilege('postmill_request', p.oid, 'execute')"
        " and not (p.proname like 'read\\_%' or p.proname like 'door\\_%')"
    )
    # Helpers of views may join these; nothing that changes anything, and nothing with another's rights.
    found = {row[0] for row in rows}
    assert found >= HELPERS
    owner = world.execute(
        "select p.proname from pg_proc p where p.pronamespace = 'postmill'::regnamespace and p.proname = any(%s)"
        " and p.prosecdef and p.proname <> 'ids_in_scope'",
        [list(found)],
    )
    assert owner.fetchall() == []


def candidates(kind: str, other: Tenant) -> list[Any]:
    """What the other tenant owns, and nothing, as an argument of a type."""
    ids = list(dict.fromkeys([other.id, *other.ids.values()]))
    mark = {
        "mark": other.mark,
        "id": str(other.id),
        "tenant_id": str(other.id),
        "name": "x",
        "label": "x",
        "status": "suspended",
    }
    text = psycopg.types.json.Jsonb
    return {
        "uuid": [*ids, None],
        "uuid[]": [ids],
        "text": [other.mark, QUEUE, None],
        "text[]": [[other.mark, JOB_TYPE], None],
        "jsonb": [
            text(mark),
            text(
                [
                    {
                        "event_id": str(other.ids.get("event", other.id)),
                        "trigger_id": str(other.ids.get("trigger", other.id)),
                    }
                ]
            ),
        ],
        "integer": [1000],
        "bigint": [1000],
        "boolean": [False],
        "bytea": [b"\x01" * 32],
        "interval": ["1 hour"],
        "double precision": [3600.0],
    }.get(kind, ["infinity" if kind.startswith("timestamp") else None])


def calls(name: str, types: list[str], other: Tenant) -> Iterator[tuple[Any, ...]]:
    """Arguments: each id of the other's in turn, with the rest drawn from what is his, and from nothing."""
    draw = Random(name)
    choices = [candidates(kind, other) for kind in types]
    ids = choices[types.index("uuid")] if "uuid" in types else []
    for n in range(MOST):
        # Numbers are limits mostly, without which nothing would be answered.
        args = [
            1000 if kind == "integer" else draw.choice([*options, None])
            for kind, options in zip(types, choices, strict=True)
        ]
        if ids:
            args[types.index("uuid")] = ids[n % len(ids)]
        yield tuple(args)


def crossings(world: Connection[Any], own: Tenant, other: Tenant) -> tuple[set[str], set[str], set[str]]:
    """Functions that showed the other's, functions that changed the other's, and those that answered at all."""
    before = belongings(world, other)
    showed, changed, answered = set(), set(), set()
    for name, types in functions(world):
        values = SQL(", ").join(SQL(f"%s::{kind}") for kind in types)
        call = SQL("select coalesce(string_agg(f::text, ' '), '') from {}({}) f").format(SQL(name), values)
        with world.transaction(force_rollback=True):
            for args in calls(name, types, other):
                try:
                    with world.transaction():
                        begin(world, own)
                        row = world.execute(call, args).fetchone()
                        world.execute("reset role")
                except psycopg.Error:
                    continue  # refused by a check of a type or a value
                answered.add(name)
                assert row is not None
                said = row[0]
                for given in (*map(str, other.ids.values()), str(other.id), other.mark):
                    # What it was asked for, it may say again: that nothing is there by that name.
                    if any(given in str(arg) for arg in args):
                        said = said.replace(given, "")
                if any(trace in said for trace in other.traces):
                    showed.add(name)
            if belongings(world, other) != before:
                changed.add(name)
    return showed, changed, answered


def test_no_function_shows_or_changes_what_is_anothers(world: Connection[Any], tenants: list[Tenant]) -> None:
    """Two functions with the mistakes that this is about are found beside them."""
    world.execute("""create function postmill.door_careless(p_id uuid) returns void language plpgsql security definer
        set search_path = pg_catalog, pg_temp as $$ begin
            update postmill.dead_letter d set reason = 'mine' where d.id = p_id; end $$""")
    world.execute("""create function postmill.door_talkative(p_id uuid) returns text language plpgsql security definer
        set search_path = pg_catalog, pg_temp as $$ begin
            return (select j.payload::text from postmill.job j where j.id = p_id); end $$""")
    world.execute("select postmill.secure_requests()")
    showed, changed, answered = crossings(world, *tenants)
    assert showed == {"postmill.door_talkative"}
    assert changed == {"postmill.door_careless"}
    assert answered >= {
        "postmill.door_cancel_jobs",
        "postmill.door_revoke_key",
        "postmill.read_jobs",
        "postmill.read_history",
    }
