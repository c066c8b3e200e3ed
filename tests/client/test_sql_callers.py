"""Callers that have no Python: plain SQL, triggers, roles with the application's rights, two-phase commit."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection, errors

from postmill.client import Client, aenqueue, enqueue, enqueue_many
from postmill.domain.errors import UnknownJobType
from postmill.domain.job import NewJob
from postmill.domain.job_type import job
from postmill.local.server import LocalServer
from tests.client.job_types import echo
from tests.support.databases import Database
from tests.support.invariants import invariants


@pytest.fixture(autouse=True)
def known(client: Client) -> None:
    """The types are registered."""


def one(conn: Connection[Any], statement: str, *args: Any) -> Any:
    row = conn.execute(statement, args).fetchone()
    assert row is not None
    return row[0]


def test_plain_sql(pg: Connection[Any]) -> None:
    id = one(pg, "select postmill.enqueue('echo', '{\"value\": 1}', priority => 5, delay => '1 hour')")
    assert one(pg, "select status from postmill.jobs where id = %s", id) == "queued"
    assert one(pg, "select state from postmill.job_state(array[%s]::uuid[])", id) == "scheduled"
    again = [one(pg, "select postmill.enqueue('echo', key => 'k')") for _ in range(2)]
    assert again[0] == again[1]
    # Once per row and once per call, however it is written.
    pg.execute(
        "select postmill.enqueue('echo', jsonb_build_object('value', n)) from generate_series(1, 10) n"
    )
    assert one(pg, "select count(*) from postmill.jobs") == 12
    invariants(pg)


def test_plain_sql_is_told_what_is_wrong(pg: Connection[Any]) -> None:
    with pytest.raises(errors.UndefinedObject, match='unknown job type "ecco"') as unknown:
        pg.execute("select postmill.enqueue('ecco')")
    assert "echo" in (unknown.value.diag.message_hint or "")
    for payload in ("'[]'", "'1'", "null"):
        with pytest.raises(errors.InvalidParameterValue, match="must be a JSON object"):
            pg.execute(f"select postmill.enqueue('echo', {payload})")
    with pytest.raises(errors.InvalidParameterValue, match='mode: "once" is none of'):
        pg.execute("select postmill.enqueue('echo', key => 'k', mode => 'once')")
    pg.execute("update postmill.job_definition set is_active = false")
    with pytest.raises(errors.ObjectNotInPrerequisiteState, match="not active"):
        pg.execute("select postmill.enqueue('echo')")


def test_an_alias_enqueues_the_real_type_with_every_option(pg: Connection[Any]) -> None:
    @job("renamed", aliases=["old_name"])
    def renamed() -> None: ...

    with Client(pg.info.dsn) as client:
        client.register([renamed])
        ids = [
            client.enqueue(NewJob("old_name", actor_id="ann")).id,
            client.enqueue(NewJob("old_name", actor_id="ann", key="k")).id,
            *[answer.id for answer in client.enqueue_many([NewJob("old_name", actor_id="ann")] * 3)],
            one(pg, "select postmill.enqueue('old_name')"),
        ]
        assert {client.get(id).job_type for id in ids} == {"renamed"}
        assert [client.get(id).actor_id for id in ids] == ["ann"] * 5 + [None]


def test_a_trigger_enqueues_in_the_same_transaction(pg: Connection[Any]) -> None:
    pg.execute(
        """
        create table photo (id int primary key, name text);
        create function on_photo() returns trigger language plpgsql as $$
        begin
            perform postmill.enqueue('echo', jsonb_build_object('value', new.name), key => 'photo:' || new.id);
            return new;
        end $$;
        create trigger on_photo after insert or update on photo for each row execute function on_photo();
        """
    )
    with pg.transaction(force_rollback=True):
        pg.execute("insert into photo values (1, 'lost')")
    pg.execute("insert into photo select n, 'p' || n from generate_series(1, 5) n")
    pg.execute("update photo set name = name || '!'")
    values = pg.execute("select payload ->> 'value' from postmill.jobs order by 1").fetchall()
    assert [value for (value,) in values] == ["p1", "p2", "p3", "p4", "p5"]
    invariants(pg)


def test_the_search_path_of_the_caller_does_not_matter(pg: Connection[Any]) -> None:
    """Functions with the definer's rights see no object that a caller put in the way."""
    pg.execute("create schema evil")
    pg.execute(
        "create function evil.now() returns timestamptz language sql as $$ select 'epoch'::timestamptz $$"
    )
    pg.execute(
        "create function evil.coalesce_uuid(uuid) returns uuid language sql as $$ select null::uuid $$"
    )
    pg.execute("create table evil.job (id uuid)")
    pg.execute("set search_path = evil, postmill, pg_catalog")
    enqueue(pg, echo.new(1))
    enqueue(pg, echo.using(key="k").new(1))
    enqueue_many(pg, [echo.new(n) for n in range(200)])
    assert one(pg, "select count(*) from postmill.any_job") == 202
    assert one(pg, "select count(*) from evil.job") == 0


@pytest.fixture
def application(pg: Connection[Any], database: Database) -> Any:
    """A connection of a role that has the application's rights only."""
    role = f"app_{database.name}"
    pg.execute(f"create role {role} login")
    pg.execute("select postmill.grant_application(%s)", [role])
    with psycopg.connect(database.dsn, user=role, autocommit=True) as conn:
        yield conn
    pg.execute(f"drop owned by {role}; drop role {role}")


def test_the_applications_role_can_enqueue_and_read_no_table_of_jobs(
    application: Connection[Any], database: Database, pg: Connection[Any]
) -> None:
    conn = application
    id = enqueue(conn, echo.new(1)).id
    enqueue(conn, echo.using(key="k").new(1))
    enqueue_many(conn, [echo.using(actor_id="a").new(n) for n in range(3)])
    enqueue_many(conn, [echo.new(n) for n in range(200)])
    assert one(pg, "select count(*) from postmill.any_job") == 205
    with pytest.raises(UnknownJobType, match="did you mean 'echo'"):
        enqueue(conn, NewJob("ecco"))
    with Client(psycopg.conninfo.make_conninfo(database.dsn, user=conn.info.user)) as client:
        assert client.get(id).payload == {"value": 1}
        assert client.cancel(id).status == "canceled"
        assert client.replay(id).status == "replayed"

        @job("unheard_of")
        def unheard_of() -> None: ...

        with pytest.raises(
            UnknownJobType, match="which this database role may not: start a worker with its module"
        ):
            client.enqueue(unheard_of.new())
    tables = pg.execute(
        "select c.oid::regclass::text from pg_class c where c.relnamespace = 'postmill'::regnamespace"
        " and c.relkind in ('r', 'p', 'v')"
    ).fetchall()
    assert len(tables) > 20
    for (table,) in tables:
        if table == "postmill.migration":
            continue  # a client looks whether the schema is one for it
        with pytest.raises(errors.InsufficientPrivilege):
            conn.execute(f"select 1 from {table}")
    for statement in ("delete from {}", "update {} set queue = queue", "truncate {}"):
        with pytest.raises(errors.InsufficientPrivilege):
            conn.execute(statement.format("postmill.job"))
    with pytest.raises(errors.InsufficientPrivilege):
        conn.execute(
            "insert into postmill.ready select 'default', id, 1, now(), id, 1, 0, 0 from postmill.tenant"
        )
    for call in (
        "pause_queue('default')",
        "register_job_types('[]')",
        "discard_jobs('{}', null)",
        "sweep(1)",
        "ensure_partitions(now())",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            conn.execute(f"select postmill.{call}")


def test_two_phase_commit_with_notify_off(own_cluster: LocalServer) -> None:
    """NOTIFY cannot be prepared: such callers switch it off, and workers find the job by polling."""
    _allow_prepared(own_cluster)
    with psycopg.connect(own_cluster.dsn(), autocommit=True) as conn:
        with Client(own_cluster.dsn()) as client:
            client.register([echo])
        # Somebody sleeps, so that an enqueue would ring.
        conn.execute("select * from postmill.doze(postmill.new_id(), '{default}', 3600)")
        conn.execute("begin")
        enqueue(conn, echo.new(1))
        with pytest.raises(errors.FeatureNotSupported, match="NOTIFY"):
            conn.execute("prepare transaction 'rings'")
        conn.execute("begin")
        conn.execute("select set_config('postmill.notify', 'off', true)")
        enqueue(conn, echo.new(2))
        enqueue_many(conn, [echo.new(n) for n in range(200)])
        enqueue(conn, echo.using(key="k").new(3))
        conn.execute("prepare transaction 'quiet'")
        conn.execute("commit prepared 'quiet'")
        assert one(conn, "select count(*) from postmill.any_job") == 202
        invariants(conn)


async def test_a_prepared_callers_key_is_waited_for_within_bounds(own_cluster: LocalServer) -> None:
    from postmill.domain.errors import KeyBusy

    _allow_prepared(own_cluster)
    with psycopg.connect(own_cluster.dsn(), autocommit=True) as conn:
        with Client(own_cluster.dsn()) as client:
            client.register([echo])
        conn.execute("begin")
        conn.execute("select set_config('postmill.notify', 'off', true)")
        first = enqueue(conn, echo.using(key="k").new(1))
        conn.execute("prepare transaction 'held'")
        async with await psycopg.AsyncConnection.connect(own_cluster.dsn()) as other:
            with pytest.raises(KeyBusy):
                await aenqueue(other, echo.using(key="k").new(2), wait=0.1)
            conn.execute("commit prepared 'held'")
            assert await aenqueue(other, echo.using(key="k").new(2)) == type(first)(first.id, False)


def _allow_prepared(server: LocalServer) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("alter system set max_prepared_transactions = 4")
    server.restart()
