"""Each case in small, for the shape of its answer and for sanity; never for speed."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from postmill.bench import CASES, run
from postmill.bench.place import placed
from tests.support.databases import Database

pytestmark = pytest.mark.usefixtures("forked")

SMALL: dict[str, dict[str, Any]] = {
    "throughput": {"jobs": 300, "processes": 2, "keep": "failures"},
    "latency": {"samples": 5, "jobs": 200},
    "enqueue": {"jobs": 200, "commits": 20, "clients": "3", "rounds": 1},
    "pinned": {"jobs": 300},
    "backlog": {"jobs": 200, "rows": 1000, "rounds": 1},
    "scheduled": {"jobs": 500, "rows": 1000, "rounds": 1},
    "history": {"jobs": 500, "rows": 1000, "rounds": 1},
    "lanes": {"jobs": 300, "rows": 50, "rounds": 1},
    "limits": {"jobs": 300, "rounds": 1},
    "wal": {"jobs": 200, "commits": 20},
    "soak": {"jobs": 1000},
    "schedules": {"schedules": 200, "due": 20, "rounds": 1},
    "telemetry": {"jobs": 150, "rounds": 1},
    "console": {"jobs": 1000, "samples": 8, "tabs": 5, "seconds": 1},
}
MORE: dict[str, set[str]] = {
    "throughput": {"seconds", "cpu_us_per_job", "limit_cpu_us_per_job"},
    "enqueue": {"rows_per_s", "two_clients", "commits_per_s", "commits"},
    "pinned": {"flatness", "limit_flatness", "tenths_per_s"},
    "backlog": {"plain_per_s", "flatness"},
    "scheduled": {"plain_per_s", "flatness"},
    "history": {"plain_per_s", "flatness"},
    "lanes": {"plain_per_s", "flatness"},
    "limits": {"without_per_s", "cpu_us_per_job"},
    "wal": {"wal_bytes_per_job", "limit_wal_bytes_per_job", "single_wal_bytes_per_job"},
    "soak": {"flatness", "rss_bytes", "rss_growth_bytes", "tenths_per_s"},
    "schedules": {"late", "idle_look_ms"},
    "telemetry": {"cpu_us_per_job", "limit_cpu_us_per_job"},
    "console": {"pages", "p95_ms", "many_p95_ms", "tabs_database_share"},
}


def measured(case: str, dsn: str, **options: Any) -> dict[str, Any]:
    told: list[str] = []
    answer = run(case, dsn, {**SMALL[case], **options}, told.append)
    assert told
    copy: dict[str, Any] = json.loads(json.dumps(answer))
    assert copy == answer
    return answer


ALIKE = ("backlog", "scheduled", "history", "lanes", "soak")
"""Drains as the others are, of what `test_what_the_cases_fill_in` fills in."""


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=[pytest.mark.long] * (case in ALIKE))
        for case in CASES
        if case not in ("latency", "console")
    ],
)
def test_a_case_answers_with_its_figures_and_touches_nothing_else(case: str, database: Database) -> None:
    answer = measured(case, database.dsn)
    assert answer["case"] == case
    assert answer["jobs_per_s"] > 0
    limit = answer["without_per_s" if case == "limits" else "limit_per_s"]
    assert limit > 0
    assert answer["ratio"] == pytest.approx(answer["jobs_per_s"] / limit, rel=0.05, abs=0.001)
    assert set(answer) >= MORE[case]
    assert set(answer["versions"]) == {"postgres", "python", "postmill", "psycopg"}
    assert answer["settings"]["options"] == {
        option.name: SMALL[case].get(option.name, option.default) for option in CASES[case].options
    }
    assert answer["settings"]["server"]["fsync"] == "on"
    assert socket.gethostname() not in json.dumps(answer)
    with database.connect() as conn:
        left = conn.execute("select nspname from pg_namespace where nspname like 'postmill%'").fetchall()
        assert left == [("postmill",)]
        assert conn.execute("select count(*) from postmill.job").fetchone() == (0,)
        assert conn.execute("select count(*) from postmill.job_definition").fetchone() == (0,)


def test_pick_ups_are_in_order_and_nobody_rings_the_busy(empty_database: Database) -> None:
    answer = measured("latency", empty_database.dsn)
    assert answer["p50_ms"] <= answer["p90_ms"] <= answer["p99_ms"] <= answer["max_ms"]
    assert set(answer["limit"]) == {"p50_ms", "p90_ms", "p99_ms", "max_ms"}
    assert answer["notified_while_busy"] == 0
    assert answer["jobs_per_s"] > 0


@pytest.mark.long
def test_every_page_of_the_console_is_measured(empty_database: Database) -> None:
    """Long, since the guard of the pages' plans fills the same tables in the suite."""
    answer = measured("console", empty_database.dsn)
    pages = {one["page"]: one for one in answer["pages"]}
    assert {"/ops", "/ops/jobs", "/t/tenant-0", "/ops/system"} <= pages.keys()
    for one in pages.values():
        assert 0 < one["p50_ms"] <= one["p95_ms"] <= answer["p95_ms"]
        assert one["many_p95_ms"] <= answer["many_p95_ms"]
    assert set(answer["above_target"]) <= pages.keys()
    assert 0 <= answer["tabs_database_share"] <= 1


def test_what_the_cases_fill_in(empty_database: Database) -> None:
    with placed(empty_database.dsn, lambda text: None) as place, place.ground() as ground:
        ground.fill(70, lanes=7)
        ground.fill(20, delay="30 days")
        ground.fill_history(100)
        counts = ground.counts()
        assert (counts.tickets, counts.outcomes, counts.bodies) == (70, 100, 190)
