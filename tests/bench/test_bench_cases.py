"""Each case in small, for the shape of its answer and for sanity; never for speed."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from postmill.bench import CASES, run
from tests.support.databases import Database

SMALL: dict[str, dict[str, Any]] = {
    "throughput": {"jobs": 1000},
    "latency": {"samples": 5, "jobs": 500},
    "enqueue": {"jobs": 400, "commits": 40, "clients": "3", "rounds": 1},
    "pinned": {"jobs": 1000},
    "backlog": {"jobs": 500, "rows": 3000, "rounds": 1},
    "scheduled": {"jobs": 500, "rows": 1000, "rounds": 1},
    "history": {"jobs": 500, "rows": 1000, "rounds": 1},
    "lanes": {"jobs": 1000, "rows": 50, "rounds": 2},
    "wal": {"jobs": 500, "commits": 40},
    "soak": {"jobs": 1000},
}
MORE: dict[str, set[str]] = {
    "throughput": {"seconds", "cpu_us_per_job", "limit_cpu_us_per_job"},
    "enqueue": {"rows_per_s", "two_clients", "commits_per_s", "commits"},
    "pinned": {"flatness", "limit_flatness", "tenths_per_s"},
    "backlog": {"plain_per_s", "flatness"},
    "scheduled": {"plain_per_s", "flatness"},
    "history": {"plain_per_s", "flatness"},
    "lanes": {"plain_per_s", "flatness"},
    "wal": {"wal_bytes_per_job", "limit_wal_bytes_per_job", "single_wal_bytes_per_job"},
    "soak": {"flatness", "rss_bytes", "rss_growth_bytes", "tenths_per_s"},
}


def measured(case: str, dsn: str, **options: Any) -> dict[str, Any]:
    told: list[str] = []
    answer = run(case, dsn, {**SMALL[case], **options}, told.append)
    assert told
    copy: dict[str, Any] = json.loads(json.dumps(answer))
    assert copy == answer
    return answer


@pytest.mark.parametrize("case", [case for case in CASES if case != "latency"])
def test_a_case_answers_with_its_figures(case: str, empty_database: Database) -> None:
    answer = measured(case, empty_database.dsn)
    assert answer["case"] == case
    assert answer["jobs_per_s"] > 0
    assert answer["limit_per_s"] > 0
    assert answer["ratio"] == pytest.approx(answer["jobs_per_s"] / answer["limit_per_s"], rel=0.05, abs=0.001)
    assert set(answer) >= MORE[case]
    assert set(answer["versions"]) == {"postgres", "python", "postmill", "psycopg"}
    assert answer["settings"]["options"] == {
        option.name: SMALL[case].get(option.name, option.default) for option in CASES[case].options
    }
    assert answer["settings"]["server"]["fsync"] == "on"
    assert socket.gethostname() not in json.dumps(answer)
    with empty_database.connect() as conn:
        left = conn.execute("select nspname from pg_namespace where nspname like 'postmill%'").fetchall()
    assert left == []


def test_pick_ups_are_in_order_and_nobody_rings_the_busy(empty_database: Database) -> None:
    answer = measured("latency", empty_database.dsn)
    assert answer["p50_ms"] <= answer["p90_ms"] <= answer["p99_ms"] <= answer["max_ms"]
    assert set(answer["limit"]) == {"p50_ms", "p90_ms", "p99_ms", "max_ms"}
    assert answer["notified_while_busy"] == 0
    assert answer["jobs_per_s"] > 0


def test_two_processes_without_history_beside_what_was_there(database: Database) -> None:
    with database.connect() as conn:
        conn.execute("create table mine as select 42 as answer")
        answer = measured("throughput", database.dsn, processes=2, keep="failures")
        assert answer["jobs"] == SMALL["throughput"]["jobs"]
        assert conn.execute("select answer from mine").fetchone() == (42,)
        assert conn.execute("select count(*) from postmill.job").fetchone() == (0,)
        assert conn.execute("select count(*) from postmill.job_definition").fetchone() == (0,)
