"""No statement about incidents reads a big table whole, with the plan that plpgsql settles on, too."""

from __future__ import annotations

from typing import Any

from psycopg import Connection, Rollback

from tests.support.plans import traced


def test_incidents_and_notifications(pg: Connection[Any]) -> None:
    """Among many that are over: what a round looks at each second, what a channel sends, and what a page shows."""
    pg.execute("""
        insert into postmill.incident (kind, key, severity, title, opened_at, last_at, cycle_at, resolved_at, step)
        select 'budget', 'k' || g, 'info', 't', m.moment, m.moment, m.moment, m.moment, 1
          from generate_series(1, 4000) g, (select postmill.now() as moment) m""")
    pg.execute("""
        insert into postmill.notification (incident_id, cycle, step, event, channel, status, due_at, sent_at)
        select i.id, 1, 0, e.event, 'ops', 'sent', i.opened_at, i.opened_at
          from postmill.incident i, unnest(array['trigger', 'resolve']) as e(event)""")
    pg.execute("""
        select postmill.raise_incident('budget', 'open' || g, 'info', 't', '{}') from generate_series(1, 20) g""")
    pg.execute(
        "analyze postmill.incident, postmill.notification, postmill.incident_part, postmill.incident_job"
    )
    row = pg.execute("select id from postmill.incident where key = 'open1'").fetchone()
    assert row is not None
    looks: list[tuple[str, list[Any]]] = [
        ("select postmill.next_escalation(%s)", [["ops", "pager"]]),
        ("select * from postmill.due_notifications(%s, 25)", ["ops"]),
        ("select postmill.raise_incident('budget', 'open1', 'info', 't', '{}')", []),
        ("select postmill.resolve_incident('budget', 'open1')", []),
        ("select * from postmill.read_incidents(p_status => 'live')", []),
        ("select * from postmill.read_incidents(p_most => 50)", []),
        ("select * from postmill.read_incidents(p_id => %s)", [row[0]]),
        ("select * from postmill.read_notifications(%s)", [row[0]]),
    ]
    for text, args in looks:
        for _ in range(7):
            with pg.transaction(), traced(pg) as plans:
                pg.execute(text.encode(), args)
                raise Rollback
        read = {name: n for name, n in plans.sequential().items() if n > 1000}
        assert not read, f"{text}: {read}\n{plans}"
        assert plans.buffers < 3000, text
