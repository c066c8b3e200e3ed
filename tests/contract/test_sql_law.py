"""The laws of `sql/`: one source of time, predicates that an index can serve, functions that nobody can bend."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection

import postmill

SQL = Path(postmill.__file__).parent / "sql"
CLOCKS = r"""(?x)\b(
    clock_timestamp | statement_timestamp | transaction_timestamp | timeofday | current_timestamp | current_date
    | current_time | localtimestamp | localtime | (?<!\{schema\}\.) now (?=\s*\()
)\b | \b(?:timestamptz|timestamp|date|time)\s+'(now|today|tomorrow)' | '(now|today|tomorrow)'::(?:timestamp|date|time)"""
PREDICATE = r"(<=|>=|<|>|(?<![:=])=|\bbetween\b)\s*\{schema\}\.now\(\)"
# A query, as against an expression of plpgsql, which has no index to lose.
QUERY = r"(?is)\b(select|delete|update|insert)\b.*\b(from|where|using)\b"


def texts() -> dict[str, str]:
    """Every file but the generated dump, without its comments."""
    found = {
        str(path.relative_to(SQL)): re.sub(r"--[^\n]*", "", path.read_text())
        for path in sorted(SQL.rglob("*.sql"))
        if path.name != "schema.sql"
    }
    assert len(found) > 80
    return found


def statements(text: str) -> Iterator[str]:
    """The statements of a file and of the bodies in it, roughly: between semicolons and dollar quotes."""
    yield from re.split(r";|\$\w*\$|\b(?:loop|then|begin|else)\b\s*$", text, flags=re.MULTILINE)


def test_time_is_read_in_one_place() -> None:
    found = {name: sorted(set(re.findall(CLOCKS, text))) for name, text in texts().items()}
    assert {name for name, hits in found.items() if hits} == {"migrations/0001_time_and_ids.sql"}


@pytest.mark.parametrize(
    "text", ["select now()", "select now ()", "x > current_timestamp", "date 'now'", "'now'::timestamptz"]
)
def test_other_clocks_are_seen(text: str) -> None:
    assert re.search(CLOCKS, text)
    assert not re.search(CLOCKS, "select {schema}.now(), m.now, 'now', known_now()")


def test_predicates_read_the_clock_once() -> None:
    """A volatile function there is called for each row, and no index is used (10 ms in place of 0.02)."""
    found = [
        (name, " ".join(hit.group().split()), " ".join(statement.split())[:160])
        for name, text in texts().items()
        for statement in statements(text)
        if re.search(QUERY, statement)
        for hit in re.finditer(PREDICATE, re.sub(r"(?is)\bset\b.*?(?=\bwhere\b|$)", "", statement))
    ]
    assert found == [], "write (select {schema}.now())"


def test_one_statement_in_each_file_outside_the_migrations() -> None:
    several = {
        name: text.strip().rstrip(";").count(";")
        for name, text in texts().items()
        if not name.startswith(("migrations/", "schema/", "bench/"))
    }
    assert {name: n for name, n in several.items() if n} == {}


SETTINGS = "notify|clock_offset|tenant_id|platform|via|actor_type|actor_id|actor_role|request_id|address"
"""Settings of a connection or transaction, which are named alike whatever the schema is called."""


def test_the_schema_is_named_by_its_token_only() -> None:
    assert [
        name for name, text in texts().items() if re.search(rf"\bpostmill\.(?!(?:{SETTINGS})\b)\w", text)
    ] == [
        "schema/lock.sql"  # the name of a lock, before there is a schema
    ]


def functions(conn: Connection[Any]) -> list[dict[str, Any]]:
    rows = conn.execute(
        """select jsonb_build_object('name', p.proname, 'definer', p.prosecdef, 'language', l.lanname,
                  'config', coalesce(to_jsonb(p.proconfig), '[]'), 'volatile', p.provolatile,
                  'public', has_function_privilege('public', p.oid, 'execute'))
             from pg_proc p join pg_language l on l.oid = p.prolang
            where p.pronamespace = 'postmill'::regnamespace"""
    ).fetchall()
    assert len(rows) > 40
    return [row[0] for row in rows]


@pytest.mark.matrix
def test_definers_functions_have_a_fixed_search_path(lasting: Connection[Any]) -> None:
    """Else a caller's own operators and functions would run with the rights of the owner."""
    found = {f["name"]: f["config"] for f in functions(lasting) if f["definer"]}
    assert {
        name for name, config in found.items() if "search_path=pg_catalog, pg_temp" not in config
    } == set()


@pytest.mark.matrix
def test_nobody_may_execute_by_default(lasting: Connection[Any]) -> None:
    """But what policies ask with the rights of whoever reads a view: two settings of the transaction."""
    assert sorted(f["name"] for f in functions(lasting) if f["public"]) == ["scope_tenant", "sees_all"]


@pytest.mark.matrix
def test_what_an_application_may(pg: Connection[Any]) -> None:
    """EXECUTE on the front door, INSERT on the intake, a look at the migrations, nothing else; and with that it works."""
    pg.execute("drop role if exists some_application")
    pg.execute("create role some_application")
    try:
        pg.execute("select postmill.grant_application('some_application')")
        rows = pg.execute(
            """select c.relname from pg_class c where c.relnamespace = 'postmill'::regnamespace and c.relkind in ('r', 'p', 'v')
                  and has_table_privilege('some_application', c.oid, 'select, insert, update, delete')"""
        ).fetchall()
        assert sorted(rows) == [("intake",), ("migration",)]
        pg.execute("""select * from postmill.register_job_types('[{"key": "plain"}]')""")
        pg.execute("set role some_application")
        ids = pg.execute("select postmill.enqueue('plain'), postmill.enqueue('plain', key => 'k')").fetchone()
        assert ids is not None
        statuses = pg.execute("select status from postmill.cancel_jobs(%s)", [list(ids)]).fetchall()
        assert statuses == [("canceled",), ("canceled",)]
        assert (
            pg.execute("select status from postmill.retry_jobs(%s)", [list(ids)]).fetchall()
            == [("replayed",)] * 2
        )
        assert (
            pg.execute("select state from postmill.job_state(%s)", [list(ids)]).fetchall()
            == [("canceled",)] * 2
        )
    finally:
        pg.execute("reset role; drop owned by some_application; drop role some_application")


# SQL-language functions are planned anew at each call before 18, unless the planner inlines them.
INLINED = {
    "now": "select postmill.now()",
    "new_id": "select postmill.new_id() from generate_series(1, 3)",
    "lane_of": "select postmill.lane_of(t.r, t.u, t.j, t.p, t.k) from (values ('none', gen_random_uuid(), 'j', '{}'::jsonb, 'k'))"
    " t(r, u, j, p, k)",
    "fault_of": "select postmill.fault_of(t.p, t.d, t.m, t.a, 1, t.s, t.s, t.s, t.s, t.s, t.s, t.s)"
    " from (values ('{}'::jsonb, interval '1 day', postmill.now(), 1, 'user')) t(p, d, m, a, s)",
    "fault_of_key": "select postmill.fault_of_key(t.k, t.m, t.d) from (values ('k', 'ttl', interval '1 day')) t(k, m, d)",
    "id_at": "select postmill.id_at(postmill.now() - g * interval '1 hour') from generate_series(1, 3) g",
    "id_time": "select postmill.id_time(gen_random_uuid()) from generate_series(1, 3)",
    "minute_of": "select postmill.minute_of(postmill.now() - g * interval '1 hour') from generate_series(1, 3) g",
    "rollup_bounds": "select postmill.rollup_bounds()",
    "error_group_id": "select postmill.error_group_id(t.x, t.x, t.x, t.x) from (values ('x')) t(x)",
    "scope_tenant": "select postmill.scope_tenant()",
    "sees_all": "select postmill.sees_all()",
    "lets_pass": "select postmill.lets_pass(g, g, g, g) from generate_series(1, 3) g",
    "limits_on": "select l.* from postmill.tenant t cross join lateral postmill.limits_on(t.slug, t.slug, t.id) l",
    "in_scope": "select postmill.in_scope(gen_random_uuid()) from generate_series(1, 3)",
}


@pytest.mark.matrix
def test_functions_in_the_language_sql_are_few(lasting: Connection[Any]) -> None:
    assert {f["name"] for f in functions(lasting) if f["language"] == "sql"} <= INLINED.keys()


@pytest.mark.matrix
@pytest.mark.parametrize("name", INLINED)
def test_and_inlined(lasting: Connection[Any], name: str) -> None:
    if {"name": name, "language": "plpgsql"}.items() <= next(
        f for f in functions(lasting) if f["name"] == name
    ).items():
        return  # new_id before 18: a plan of its own, kept
    plan = lasting.execute("explain (verbose, costs off) " + INLINED[name]).fetchall()
    assert f"postmill.{name}(" not in str(plan)


@pytest.mark.matrix
def test_the_clock_is_volatile_and_shifts(pg: Connection[Any]) -> None:
    assert next(f for f in functions(pg) if f["name"] == "now")["volatile"] == "v"
    pg.execute("begin; set local postmill.clock_offset = '-3 days'")
    shift = "select extract(epoch from postmill.now() - clock_timestamp())::float8, postmill.id_time(postmill.new_id()) < now()"
    row = pg.execute(shift).fetchone()
    assert row is not None
    assert row[0] == pytest.approx(-3 * 86400, abs=1)
    assert row[1]
    pg.execute("commit")
    row = pg.execute(shift).fetchone()
    assert row is not None
    assert row[0] == pytest.approx(0, abs=1)


@pytest.mark.matrix
def test_ids_sort_by_their_making(pg: Connection[Any]) -> None:
    """And are version 7 of RFC 9562 on every server."""
    rows = pg.execute("select postmill.new_id() from generate_series(1, 2000)").fetchall()
    ids = [row[0] for row in rows]
    assert {(id.version, id.variant) for id in ids} == {(7, "specified in RFC 4122")}
    assert len(set(ids)) == 2000
    milliseconds = [id.int >> 80 for id in ids]
    assert milliseconds == sorted(milliseconds)
