"""Everything that grows has a retention: each table of the schema, by name."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection

from postmill.domain.errors import InvalidValue
from postmill.domain.retention import OF_TENANTS, SUBJECTS, TABLES, check_keep, check_subject
from postmill.domain.settings_retention import RetentionSettings
from tests.support import sessions


def test_each_table_has_one_or_does_not_grow(pg: Connection[Any]) -> None:
    rows = pg.execute(
        """select c.relname from pg_class c where c.relnamespace = 'postmill'::regnamespace
              and c.relkind in ('r', 'p') and not c.relispartition"""
    ).fetchall()
    unnamed = {row[0] for row in rows} - TABLES.keys()
    assert unnamed == set(), "say in domain/retention.py how long their rows are kept"
    followed = {name: what for name, what in TABLES.items() if what in SUBJECTS}
    assert {"job", "attempt", "outcome", "dead_letter", "event", "tick", "audit_log"} <= set(followed)
    assert all(what in SUBJECTS or " " in what for what in TABLES.values())


def test_each_subject_is_a_setting_and_a_rule(pg: Connection[Any]) -> None:
    assert RetentionSettings().seconds.keys() == SUBJECTS.keys()
    known = {
        row[0]: row[1] for row in pg.execute("select subject, keep_seconds from postmill.door_retention()")
    }
    assert known == RetentionSettings().seconds, "the database's defaults are those of the settings"
    assert SUBJECTS.keys() >= OF_TENANTS


def test_for_ever_and_for_a_hundred_years(pg: Connection[Any]) -> None:
    """Moments of before 1970 have no ids; what is kept since then is kept."""
    pg.execute("select * from postmill.publish_event('order.paid', '{}')")
    for seconds in (None, 100 * 365 * 86400.0):
        pg.execute("select postmill.door_set_retention(null, 'events', %s, false)", [seconds])
        pg.execute("select postmill.door_set_retention(null, 'dead_letter', %s, false)", [seconds])
        pg.execute(
            "select postmill.sweep_triggers(1000), postmill.expire_letters(10), postmill.prune_audit(10)"
        )
        assert sessions.one(pg, "select count(*) from postmill.event") == 1
    pg.execute("select postmill.door_set_retention(null, 'events', 3600, false)")
    with sessions.shifted(pg, "2 hours"):
        pg.execute("select postmill.sweep_triggers(1000)")
    assert sessions.one(pg, "select count(*) from postmill.event") == 0


@pytest.mark.parametrize(
    ("subject", "seconds", "of_tenant"),
    [("events", 3600.0, True), ("nothing", 3600.0, False), ("failed", None, False), ("failed", 10.0, False),
     ("archive", 0.0, False), ("failed", 1e12, True)],
)  # fmt: skip
def test_rules_that_cannot_be(subject: str, seconds: float | None, of_tenant: bool) -> None:
    with pytest.raises(InvalidValue):
        check_keep(check_subject(subject, of_tenant=of_tenant), seconds, of_tenant=of_tenant)
    assert check_keep("archive", 0, of_tenant=True) == 0
    assert check_keep("audit", None, of_tenant=False) is None
