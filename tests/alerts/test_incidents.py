"""Incidents in the database: one open for each key, counted, resolved, opened again, seen by whom they concern."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from postmill.bind import drive, run
from postmill.domain.errors import NotFound
from postmill.operate import incidents
from postmill.operate.incidents import IncidentRefused
from postmill.store.incidents import IncidentView, list_incidents, raise_incident, resolve_incident

ADA, BOB = UUID(int=11), UUID(int=12)


def one(pg: Connection[Any], query: str, *args: Any) -> Any:
    row = pg.execute(query.encode(), args).fetchone()
    return None if row is None else row[0]


def shown(pg: Connection[Any], id: UUID) -> IncidentView:
    return drive(pg, incidents.incident(id))


def later(pg: Connection[Any], interval: str) -> None:
    pg.execute("select set_config('postmill.clock_offset', %s, false)", [interval])


def escalated(pg: Connection[Any], id: UUID, channel: str = "ops") -> None:
    """As the round does it."""
    step = """select jsonb_agg(jsonb_build_object('id', i.id, 'cycle', i.cycle, 'step', i.step, 'next_step', i.step + 1,
        'told', jsonb_build_array(jsonb_build_object('channel', %s::text, 'step', i.step))))
        from postmill.incident i where i.id = %s"""
    pg.execute("select postmill.take_steps(%s)", [Jsonb(one(pg, step, channel, id))])


def told(pg: Connection[Any], id: UUID) -> list[tuple[str, int]]:
    return pg.execute(
        "select event, cycle from postmill.notification where incident_id = %s order by id", [id]
    ).fetchall()


def test_one_is_open_for_each_key(pg: Connection[Any]) -> None:
    pg.execute(
        "insert into postmill.tenant (id, slug, name) values (%s, 'ada', 'Ada'), (%s, 'bob', 'Bob')",
        [ADA, BOB],
    )
    first = run(pg, raise_incident("budget", "k", "info", "75 %", {"share": 0.75}, tenant=ADA, job=uuid4()))
    again = run(
        pg,
        raise_incident("budget", "k", "critical", "100 %", {"limit": 5}, tenant=BOB, queue="q", job=uuid4()),
    )
    assert run(pg, raise_incident("budget", "k", "warning", "90 %", {})) == first == again
    found = shown(pg, first)
    assert (found.count, found.jobs, found.tenants, found.tenant_id) == (3, 2, 2, None)
    assert (found.severity, found.title, found.facts, found.queue) == (
        "critical",
        "90 %",
        {"share": 0.75, "limit": 5},
        "q",
    )
    assert len(drive(pg, incidents.jobs(first))) == 2

    escalated(pg, first)
    escalated(pg, first, "pager")
    assert run(pg, resolve_incident("budget", "k")) == first
    assert run(pg, resolve_incident("budget", "k")) is None
    assert [event for event, _ in told(pg, first)] == ["trigger", "trigger", "resolve", "resolve"]

    # Opened again within ten minutes: the same one, told anew three times, then only if it lasts for an hour.
    for cycle in range(2, 7):
        assert run(pg, raise_incident("budget", "k", "info", "again", {})) == first
        due = one(
            pg,
            "select extract(epoch from escalate_at - cycle_at)::int from postmill.incident where id = %s",
            first,
        )
        assert due == (0 if cycle <= 4 else 3600)
        if cycle <= 4:
            escalated(pg, first)
        run(pg, resolve_incident("budget", "k"))
        assert ("resolve", cycle) in told(pg, first) or cycle > 4
    assert len(told(pg, first)) == 4 + 3 * 2
    later(pg, "11 minutes")
    second = run(pg, raise_incident("budget", "k", "info", "later", {}))
    assert second != first

    # One that was silent for a day is told anew, whoever had acknowledged it.
    escalated(pg, second)
    assert drive(pg, incidents.acknowledge(second, reason="on it", actor="ada")).status == "acknowledged"
    assert drive(pg, incidents.acknowledge(second)).acknowledged_by == "ada", "as it was"
    run(pg, raise_incident("budget", "k", "info", "still", {}))
    assert shown(pg, second).status == "acknowledged"
    later(pg, "3 days")
    run(pg, raise_incident("budget", "k", "info", "still", {}))
    assert shown(pg, second).status == "open"
    audited = pg.execute(
        "select action, actor_id, reason from postmill.audit_log where action like 'incidents.%'"
    ).fetchall()
    assert audited == [("incidents.acknowledge", "ada", "on it")]


def test_one_that_comes_back_counts_anew(pg: Connection[Any]) -> None:
    """Since when, how often and whom it hurts are of this time; and it says that it is not the first."""
    pg.execute(
        "insert into postmill.tenant (id, slug, name) values (%s, 'ada', 'Ada'), (%s, 'bob', 'Bob')",
        [ADA, BOB],
    )
    for number in range(15):
        facts = {"error": "ada's", "only": "then"}
        id = run(
            pg,
            raise_incident(
                "budget", "k", "critical", "spent", facts, tenant=(ADA, BOB)[number % 2], job=uuid4()
            ),
        )
    assert (shown(pg, id).count, shown(pg, id).tenants, shown(pg, id).reopened) == (15, 2, 0)
    before = shown(pg, id).opened_at
    drive(pg, incidents.resolve(id, reason="replayed"))
    later(pg, "8 minutes")
    jobs = {uuid4() for _ in range(3)}
    for job in jobs:
        assert (
            run(
                pg, raise_incident("budget", "k", "warning", "spent", {"error": "bob's"}, tenant=BOB, job=job)
            )
            == id
        )
    found = shown(pg, id)
    assert (found.count, found.jobs, found.tenants, found.tenant_id, found.reopened) == (3, 3, 1, BOB, 1)
    assert (found.opened_at - before).total_seconds() >= 480
    assert (found.severity, found.facts, found.note) == ("warning", {"error": "bob's"}, None)
    assert set(drive(pg, incidents.jobs(id))) == jobs
    parts = pg.execute(
        "select tenant_id, jobs, first_at from postmill.incident_part where incident_id = %s", [id]
    )
    assert parts.fetchall() == [(BOB, 3, found.opened_at)]


def test_a_raise_that_comes_after_its_resolve(pg: Connection[Any]) -> None:
    """Nobody is to be called for what is over; but somebody shall hear of it, and of its end."""
    run(pg, resolve_incident("sla_breach", "HIGH"))
    id = run(pg, raise_incident("sla_breach", "HIGH", "warning", "late", {"at": "2020-01-01T00:00:00Z"}))
    assert shown(pg, id).status == "resolved"
    assert (
        run(pg, raise_incident("sla_breach", "HIGH", "warning", "late", {"at": "2020-01-01T00:00:01Z"})) == id
    )
    assert (shown(pg, id).status, shown(pg, id).count) == ("resolved", 2)
    escalated(pg, id)
    assert told(pg, id) == [("trigger", 1), ("resolve", 1)]
    assert run(pg, raise_incident("sla_breach", "HIGH", "warning", "late", {"at": "no moment"})) == id
    assert shown(pg, id).status == "open"
    with pytest.raises(NotFound):
        drive(pg, incidents.resolve(uuid4()))
    done = drive(pg, incidents.resolve(id, reason="fixed by hand"))
    assert (done.status, done.note) == ("resolved", "fixed by hand")
    with pytest.raises(IncidentRefused, match="is over already"):
        drive(pg, incidents.acknowledge(id))
    assert run(pg, list_incidents(status="live")) == []
    assert len(run(pg, list_incidents(status="resolved", kind="sla_breach"))) == 1


def test_a_tenant_sees_its_own(pg: Connection[Any]) -> None:
    pg.execute(
        "insert into postmill.tenant (id, slug, name) values (%s, 'ada', 'Ada'), (%s, 'bob', 'Bob')",
        [ADA, BOB],
    )
    own = run(
        pg, raise_incident("missed_trigger", "t", "warning", "bob's schedule", {"why": "bob"}, tenant=BOB)
    )
    shared = run(
        pg,
        raise_incident(
            "job_exhausted",
            "m:E",
            "critical",
            "ada's secret",
            {"error": "ada"},
            tenant=ADA,
            job_type="m",
            job=uuid4(),
        ),
    )
    run(
        pg,
        raise_incident(
            "job_exhausted", "m:E", "critical", "bob's secret", {"error": "bob"}, tenant=BOB, job=uuid4()
        ),
    )
    platform = run(pg, raise_incident("stale_workers", "fleet", "critical", "silent", {}))
    escalated(pg, shared)
    with pg.transaction():
        pg.execute("select postmill.begin_request(%s, false, 'api', 'user', 'bob', 'operator', 'r')", [BOB])
        seen = {it.id: it for it in run(pg, list_incidents())}
        assert seen.keys() == {own, shared}
        assert (seen[own].title, seen[own].facts) == ("bob's schedule", {"why": "bob"})
        assert (seen[shared].title, seen[shared].key, seen[shared].facts) == ("job_exhausted of m", None, {})
        assert (seen[shared].count, seen[shared].jobs, seen[shared].tenants) == (1, 1, 1)
        assert drive(pg, incidents.told(shared)) == []
        assert len(drive(pg, incidents.jobs(shared))) == 1
        with pytest.raises(NotFound):
            drive(pg, incidents.acknowledge(platform))
        with pytest.raises(IncidentRefused, match="other tenants"):
            drive(pg, incidents.resolve(shared))
        assert drive(pg, incidents.acknowledge(own)).acknowledged_by == "bob"
