"""EXPLAIN guards on a database with many jobs: what operations look at (statistics, incidents, retention)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from postmill.local.server import LocalServer
from tests.contract.big import Big, lean
from tests.support import sessions
from tests.support.databases import fresh_database

pytestmark = pytest.mark.matrix

SIZES = [pytest.param(60_000, id="60k"), pytest.param(1_000_000, id="million", marks=pytest.mark.long)]
HOG = UUID("00000001-0000-0000-0000-000000000000")


@pytest.fixture(scope="module", params=SIZES)
def big(request: pytest.FixtureRequest, cluster: LocalServer, template: str) -> Iterator[Big]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        yield Big(conn, request.param)


def test_enqueues_are_counted_along_their_ids(big: Big) -> None:
    """Each job once, in one partition; what is older and what is being written is left alone."""
    n = 0
    until = sessions.one(big.conn, "select postmill.now()")

    def count() -> None:
        nonlocal n
        n = sessions.one(
            big.conn,
            "select sum(n)::integer from postmill.enqueues_between(%s - interval '1 hour', %s)",
            until,
            until,
        )

    for plans in big.trace(count):
        lean(plans)
        assert 0 < n < big.n / 400
        assert abs(plans.rows("job") - n) <= 61  # before 18 rows are whole numbers for each of the minutes


def test_statistics_read_their_stretch_of_time(big: Big) -> None:
    with big.conn.transaction(force_rollback=True):
        big.conn.execute(
            """insert into postmill.rollup (minute, tenant_id, queue, job_type, outcome, n, total_hist)
               select postmill.minute_of(postmill.now()) - g * interval '1 minute',
                      (lpad(to_hex(t), 8, '0') || '-0000-0000-0000-000000000000')::uuid, 'default', 'plain', 'succeeded', 1,
                      postmill.histogram(1)
                 from generate_series(0, 999) g, generate_series(1, 20) t"""
        )
        big.conn.execute(
            """insert into postmill.rollup_fleet (minute, queue, job_type, outcome, n, total_hist)
               select minute, queue, job_type, outcome, sum(n), postmill.histogram_sum(total_hist)
                 from postmill.rollup group by 1, 2, 3, 4"""
        )
        big.conn.execute("analyze postmill.rollup, postmill.rollup_fleet")
        stats = "select counts from postmill.read_stats(postmill.now() - interval '%s min', postmill.now(), null, %s, %s)"
        for minutes, by, tenant, table, most in (
            (10, None, None, "rollup_fleet", 11),
            (10, "tenant", None, "rollup", 220),
            (60, None, HOG, "rollup", 70),
        ):
            for plans in big.trace(lambda m=minutes, b=by, t=tenant: big.conn.execute(stats, (m, b, t))):  # type: ignore[misc]
                lean(plans)
                assert 0 < plans.rows(table) <= most
                assert not plans.rows("rollup" if table == "rollup_fleet" else "rollup_fleet")


def test_incidents_and_notifications(big: Big) -> None:
    """Among many that are over: what a round looks at each second, what a channel sends, and what a page shows."""
    big.conn.execute("""
        insert into postmill.incident (kind, key, severity, title, opened_at, last_at, cycle_at, resolved_at, step)
        select 'budget', 'k' || g, 'info', 't', m.moment, m.moment, m.moment, m.moment, 1
          from generate_series(1, 4000) g, (select postmill.now() as moment) m""")
    big.conn.execute("""
        insert into postmill.notification (incident_id, cycle, step, event, channel, status, due_at, sent_at)
        select i.id, 1, 0, e.event, 'ops', 'sent', i.opened_at, i.opened_at
          from postmill.incident i, unnest(array['trigger', 'resolve']) as e(event)""")
    big.conn.execute("""
        select postmill.raise_incident('budget', 'open' || g, 'info', 't', '{}') from generate_series(1, 20) g""")
    big.conn.execute(
        "analyze postmill.incident, postmill.notification, postmill.incident_part, postmill.incident_job"
    )
    (own,) = big.ids("select id from postmill.incident where key = 'open1'")
    looks: list[tuple[str, list[Any]]] = [
        ("select postmill.next_escalation(%s)", [["ops", "pager"]]),
        ("select * from postmill.due_notifications(%s, 25)", ["ops"]),
        ("select postmill.raise_incident('budget', 'open1', 'info', 't', '{}')", []),
        ("select postmill.resolve_incident('budget', 'open1')", []),
        ("select * from postmill.read_incidents(p_status => 'live')", []),
        ("select * from postmill.read_incidents(p_most => 50)", []),
        ("select * from postmill.read_incidents(p_id => %s)", [own]),
        ("select * from postmill.read_notifications(%s)", [own]),
    ]
    for text, args in looks:
        for plans in big.trace(lambda text=text, args=args: big.conn.execute(text.encode(), args)):
            lean(plans)
            assert plans.buffers < 3000, text


def test_what_goes_row_by_row(big: Big) -> None:
    """A slice of a status is found by its time; the rest of history is not looked at."""
    big.conn.execute("select postmill.door_set_retention(null, 'succeeded', 5 * 86400, false)")
    for plans in big.trace(lambda: sessions.one(big.conn, "select postmill.retire()")):
        lean(plans)
        assert plans.rows("job") < 20_000
    big.conn.execute("select postmill.door_set_retention(null, 'succeeded', null, true)")


def test_what_is_past_its_day(big: Big) -> None:
    """Bodies of a partition that are still needed are found by their tickets, and those by their ids."""
    name, since, until = sessions.one(
        big.conn,
        "select name, since, until from postmill.partition where parent = 'job' order by until limit 1",
    )
    survivors = (
        "select postmill.keep_survivors(%s, postmill.id_at(%s), postmill.id_at(%s), %s, postmill.now())"
    )

    def do() -> None:
        sessions.one(big.conn, "select postmill.expire_letters(500)")
        sessions.one(big.conn, survivors, name, since, until, until)

    for plans in big.trace(do, calls=2):
        lean(plans, name)
        assert all(
            "id >=" in condition for condition in plans.conditions("ready") | plans.conditions("scheduled")
        )


def test_a_bulk_act_looks_along_one_index(big: Big) -> None:
    """What it would meet, and the selection of its next part: bounded, however many jobs there are."""
    preview = "select postmill.read_operation_preview(%s, %s, p_most => 5000, p_sample => 1000)"
    filters = [
        ('{"states": ["dead_letter"], "terms": []}', "replay"),
        ('{"terms": [{"field": "type", "not": false, "values": ["plain"]}]}', "cancel"),
    ]
    for matching, kind in filters:
        for plans in big.trace(lambda m=matching, k=kind: big.conn.execute(preview, (k, m))):  # type: ignore[misc]
            lean(plans)
            assert plans.buffers < 300_000
        with big.conn.transaction(force_rollback=True):
            begun = sessions.one(
                big.conn,
                "select id from postmill.door_start_operation(%s, '{}', '{}', 'x', null, null, %s)",
                kind,
                matching,
            )
            for plans in big.trace(
                lambda id=begun: big.conn.execute("select postmill.select_items(%s, 500)", (id,))  # type: ignore[misc]
            ):
                lean(plans)


def test_the_page_of_one_job_reads_that_job(big: Big) -> None:
    some = big.ids(
        "(select id from postmill.job order by id limit 1) union all (select id from postmill.ready limit 1)"
    )
    for text in (
        "select postmill.read_job_page(%s)",
        "select * from postmill.read_attempt_page(%s)",
        "select * from postmill.read_job_payload(%s)",
        "select postmill.read_attempt_text(%s, 1, 'stack')",
    ):
        for id in some:
            for plans in big.trace(lambda text=text, id=id: big.conn.execute(text.encode(), (id,))):  # type: ignore[misc]
                lean(plans)
                assert plans.buffers < 2000, text
