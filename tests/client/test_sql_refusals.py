"""What plain SQL asks wrongly gets an answer that says what is wrong: a status for its row, or an error of Postmill's own.
The other rows are jobs, and nothing that was taken stops those who read it later."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg import Connection, errors

from postmill.client import enqueue, enqueue_many
from postmill.domain.job import Enqueued, NewJob
from postmill.errors import PayloadRefused, SomeRefused
from tests.support import sessions
from tests.support.databases import Database
from tests.support.invariants import invariants

LONG = "x" * 20_000
# A key that no compression makes short enough for the index.
NOISE = "(select string_agg(md5(n::text), '') from generate_series(1, 300) n)"


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module."""
    return emptied


@pytest.fixture
def pg(lasting: Connection[Any]) -> Connection[Any]:
    """Its connection, too."""
    return lasting


@pytest.fixture(autouse=True)
def known(pg: Connection[Any]) -> None:
    pg.execute("""select * from postmill.register_job_types('[{"key": "echo"}, {"key": "other"}]')""")


REFUSED = [
    (f"'echo', key => {NOISE}", "key: has 9600 bytes; 1 to 512 are allowed"),
    ("'echo', key => ''", "key: has 0 bytes"),
    ("'echo', key => 'k', mode => 'once'", 'mode: "once" is none of active'),
    ("'echo', key => 'k', mode => 'ttl', ttl => '-1 s'", "ttl: must be more than nothing"),
    ("'echo', key => 'k', mode => 'ttl', ttl => '200000 years'", "ttl: .* at most ten years"),
    ("'echo', '[]'", "payload: must be a JSON object, not array"),
    ("'echo', '1', key => 'k'", "payload: must be a JSON object, not number"),
    ("'echo', 'null'", "payload: must be a JSON object, not null"),
    ("'echo', null", "payload: must be a JSON object, not NULL"),
    (
        "'echo', scheduled_for => 'infinity'",
        "scheduled_for: must be a moment before the end of the year 9999",
    ),
    ("'echo', scheduled_for => '-infinity'", "scheduled_for: must be a moment"),
    ("'echo', scheduled_for => '12000-01-01'", "scheduled_for: must be a moment"),
    ("'echo', scheduled_for => '9999-12-30', delay => '3 days'", "scheduled_for: must be a moment"),
    ("'echo', delay => '290000 years'", "delay: must be at most ten years"),
    ("'echo', delay => '290000 years', key => 'k'", "delay: must be at most ten years"),
]


@pytest.mark.matrix
def test_enqueue_raises_what_is_wrong(pg: Connection[Any]) -> None:
    for asked, said in REFUSED:
        with pytest.raises(errors.InvalidParameterValue, match=f'no job of type "echo" was made: {said}'):
            pg.execute(f"select postmill.enqueue({asked})")
    assert sessions.one(pg, "select count(*) from postmill.any_job") == 0
    assert sessions.one(pg, "select count(*) from postmill.idempotency_key") == 0


def test_an_overlong_name_is_an_unknown_one(pg: Connection[Any]) -> None:
    with pytest.raises(errors.UndefinedObject, match='unknown job type "xxxxx') as unknown:
        pg.execute(f"select postmill.enqueue('{LONG}')")
    assert len(str(unknown.value)) < 1000
    with pytest.raises(errors.UndefinedObject, match="unknown job type"):
        pg.execute("select postmill.enqueue(null)")
    assert (
        sessions.one(pg, "select status from postmill.enqueue_many(array[%s], '{\"{}\"}')", LONG)
        == "unknown_type"
    )
    assert not sessions.one(pg, "select postmill.pause_queue(%s)", LONG)


# Which array of enqueue_many, in which position, and the bad element.
WRONG = {
    "p_payloads": "'[]'::jsonb",
    "p_delays": "interval '290000 years'",
    "p_scheduled_for": "timestamptz 'infinity'",
    "p_max_attempts": "0",
    "p_timeouts": "float8 'NaN'",
    "p_sources": "'nobody'",
    "p_source_refs": f"'{LONG}'",
    "p_actor_types": "'robot'",
    "p_actor_ids": f"'{LONG}'",
    "p_request_ids": f"'{LONG}'",
    "p_correlation_ids": f"'{LONG}'",
    "p_traceparents": f"'{LONG}'",
    "p_keys": NOISE,
    "p_modes": "'once'",
    "p_ttls": "interval '0'",
}


def many(conn: Connection[Any], **arrays: str) -> list[tuple[int, str, str | None]]:
    named = ", ".join(f"{name} => {array}" for name, array in arrays.items())
    return sorted(
        conn.execute(f"select n, status, detail from postmill.enqueue_many({named})".encode()).fetchall()
    )


@pytest.mark.matrix
@pytest.mark.parametrize("keyed", [False, True])
def test_one_bad_row_of_many(pg: Connection[Any], keyed: bool) -> None:
    for array, wrong in WRONG.items():
        arrays = {
            "p_job_types": "array['echo', 'echo', 'other']",
            "p_payloads": "array['{}', '{}', '{}']::jsonb[]",
        }
        if keyed or array in ("p_modes", "p_ttls"):
            arrays["p_keys"] = "array['a', 'b', null]"
        good = {"p_payloads": "'{}'", "p_keys": "'a'"}.get(array, "null")
        arrays[array] = f"array[{good}, {wrong}, {'null' if array == 'p_keys' else good}]"
        before = sessions.one(pg, "select count(*) from postmill.any_job")
        found = many(pg, **arrays)
        assert [row[0] for row in found] == [1, 2, 3]
        assert found[0][1] in ("created", "duplicate")
        assert [row[1] for row in found[1:]] == ["invalid", "created"], array
        assert (found[1][2] or "").startswith(array[2:].removesuffix("s")), found[1]
        made = sum(row[1] == "created" for row in found)
        assert sessions.one(pg, "select count(*) from postmill.any_job") == before + made
    invariants(pg)


def test_a_time_limit_is_a_length_of_time(pg: Connection[Any]) -> None:
    limits = "array[0, -1, 'infinity', 1e300, 'NaN', 0.001]::float8[]"
    found = many(
        pg,
        p_job_types="array_fill('echo'::text, '{6}')",
        p_payloads="array_fill('{}'::jsonb, '{6}')",
        p_timeouts=limits,
    )
    assert [row[1] for row in found] == ["invalid"] * 5 + ["created"]


def test_arrays_of_unequal_length_lose_no_row(pg: Connection[Any]) -> None:
    """A row is everything that any of the first arrays names; what is missing in it is said."""
    two = "array['{}', '{}']::jsonb[]"
    found = many(pg, p_job_types="array['echo', 'echo', 'echo']", p_payloads=two)
    assert [row[1] for row in found] == ["created", "created", "invalid"]
    assert found[2][2] == "payload: must be a JSON object, not NULL"
    assert [row[1] for row in many(pg, p_job_types="array['echo']", p_payloads=two)] == [
        "created",
        "unknown_type",
    ]
    found = many(pg, p_job_types="array['echo', 'echo']", p_payloads=two, p_keys="array['a']")
    assert [row[1] for row in found] == ["created", "created"]
    assert many(pg, p_job_types="null", p_payloads="null") == []
    assert many(pg, p_job_types="'{}'", p_payloads="'{}'", p_keys="'{}'") == []


def test_any_wait_is_a_wait(pg: Connection[Any]) -> None:
    for wait in ("-1 s", "0", "200 days", "100000 years"):
        found = many(
            pg, p_job_types="array['echo']", p_payloads="array['{}'::jsonb]", p_keys="array['k']",
            p_wait=f"interval '{wait}'",
        )  # fmt: skip
        assert found[0][1] in ("created", "duplicate")
    assert sessions.one(pg, "show lock_timeout") == "0"


def test_what_copy_brought_is_looked_at_too(pg: Connection[Any]) -> None:
    batch = "00000000-0000-0000-0000-00000000000b"
    with psycopg.Cursor(pg).copy(
        "copy postmill.intake (batch, n, job_type, payload, delay) from stdin"
    ) as copy:
        for line in ("1\techo\t{}\t\\N", "2\techo\t[]\t\\N", "3\techo\t{}\t200000 years", "4\tecco\t{}\t\\N"):
            copy.write(f"{batch}\t{line}\n")
    found = pg.execute("select n, status from postmill.enqueue_intake(%s) order by n", [batch]).fetchall()
    assert found == [(1, "created"), (2, "invalid"), (3, "invalid"), (4, "unknown_type")]
    invariants(pg)


def test_python_hears_a_refusal_and_can_go_on(database: Database, pg: Connection[Any]) -> None:
    never = NewJob("echo", scheduled_for=datetime.max.replace(tzinfo=UTC))
    with psycopg.connect(database.dsn) as conn:
        with pytest.raises(PayloadRefused, match="scheduled_for: must be a moment before the end"):
            enqueue(conn, never)
        with pytest.raises(SomeRefused) as some:
            enqueue_many(conn, [never, never.using(key="k"), NewJob("echo", key="l")])
        assert [type(answer) for answer in some.value.answers] == [PayloadRefused, PayloadRefused, Enqueued]
    assert sessions.one(pg, "select count(*) from postmill.any_job") == 1


def test_a_name_that_no_index_takes_is_named(pg: Connection[Any]) -> None:
    for name in ("a" * 201, ""):
        for wrong in ({"key": name}, {"key": "fine", "queue": name}, {"key": "fine", "aliases": ["b", name]}):
            with pytest.raises(errors.InvalidParameterValue, match=f"has {len(name)}\\n"):
                pg.execute("select * from postmill.register_job_types(%s)", [json.dumps([wrong])])


def test_the_latest_moment_can_be_read_in_every_time_zone(pg: Connection[Any]) -> None:
    """An infinite one stopped promoter and monitor before 17, and no client could read it."""
    pg.execute("select postmill.pause_queue('default', 'for ever', 'infinity')")
    id = sessions.one(pg, "select postmill.enqueue('echo', scheduled_for => '9999-12-31 00:00+00')")
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        pg.execute("select set_config('timezone', %s, false)", [zone])
        assert sessions.rows(pg, "jobs/job_state", [id])
        assert sessions.rows(pg, "queues/list_queues")
    assert sessions.rows(pg, "upkeep/measure") == [("default", "default", "scheduled", 1, None)]
