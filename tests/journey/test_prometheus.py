"""A real Prometheus watches a busy fleet: what is shipped gives data, and what it says is so."""

from __future__ import annotations

from pathlib import Path
from urllib.request import urlopen

import psycopg

from postmill.bind import drive
from postmill.operate import budgets
from postmill.telemetry.grafana import dashboard
from tests.journey import busy
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.fleet import fleet
from tests.support.ports import unused_port
from tests.support.prometheus import Prometheus, prometheus
from tests.support.spawner import ROOT, spawner

SEED_1 = {
    "backlog": "sum by (queue) (job_queue_backlog_total)",
    "p95": "histogram_quantile(0.95, sum by (queue, le) (rate(job_execution_duration_seconds_bucket[5m])))",
    "screenshots": "screenshot_concurrency_utilization / 3 * 100  # Percentage of 3-worker pool",
}
"""To the letter, from its section 6."""

RATIO = "max by (budget) (postmill_budget_used_ratio)"
WAITING = 7

BURY = """
with given_up as (delete from postmill.ready r where r.id = (select min(o.id::text)::uuid from postmill.ready o) returning r.*)
insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, attempts, failed_at)
select id, lane, queue, lane, priority, attempt, run, lost, 'permanent_error', 1, postmill.now() from given_up"""
"""One of them is a dead letter from the beginning, for depths are measured only now and then."""


def panel_queries() -> list[str]:
    """Each query of the dashboard, with what Grafana would fill in."""
    found = [target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", ())]
    replaced = {"$__rate_interval": "1m", "$queue": ".*", "$job_type": ".*"}
    for variable, value in replaced.items():
        found = [expr.replace(variable, value) for expr in found]
    return found


def enqueue(conn: psycopg.Connection[object], job_type: str, n: int) -> None:
    conn.execute("select postmill.enqueue(%s, '{}') from generate_series(1, %s)", (job_type, n))


def watch(found: Prometheus, queries: list[str], server: str, conn: psycopg.Connection[object]) -> None:
    """Work goes on until every query has an answer."""
    silent = list(queries)

    def look() -> bool:
        enqueue(conn, "b_ok", 5)
        enqueue(conn, "b_fail", 1)
        enqueue(conn, "b_spend", 2)
        enqueue(conn, "b_broke", 1)
        with urlopen(f"{server}/healthz", timeout=10) as answer:
            answer.read()
        silent[:] = [expr for expr in silent if not found.query(expr)]
        return not silent

    try:
        eventually(look, 30)
    except AssertionError:
        raise AssertionError(f"without an answer: {silent}") from None


def test_a_busy_fleet_is_seen(database: Database, tmp_path: Path) -> None:
    ports = [unused_port() for _ in range(3)]
    server = f"http://127.0.0.1:{ports[2]}"
    settings = {"POSTMILL_SERVER__OPEN_METRICS": "true", "POSTMILL_DATABASE_URL": database.dsn}
    with (
        psycopg.connect(database.dsn, autocommit=True) as conn,
        fleet(database.dsn, tmp_path / "log") as workers,
    ):
        conn.execute(busy.REGISTER)
        drive(conn, budgets.set_budget("ai", limit=1000))
        drive(conn, budgets.set_budget("none", limit=0, levels={"hard_stop": {"action": "defer"}}))
        enqueue(conn, "b_spend", 1)
        conn.execute("select postmill.pause_queue('CLOSED', 'test')")
        enqueue(conn, "b_fail", 1)
        conn.execute(BURY)
        conn.execute(
            "select postmill.raise_incident('sla_breach', 'queue:CLOSED', 'warning', 'late', '{}', null, 'CLOSED')"
        )
        enqueue(conn, "b_wait", WAITING)
        enqueue(conn, "SCREENSHOT_CAPTURE", 4)
        enqueue(conn, "b_fail", 3)
        slots = ["--queues", "default=10,CLOSED=1,SCREENSHOT=3"]
        for port in ports[:2]:
            # Nobody waits for the screenshots at the end.
            workers.start(
                "--port",
                str(port),
                *slots,
                module="tests.journey.busy",
                settings={"POSTMILL_WORKER__GRACE": "0"},
            )
        words = ["postmill", "server", "--port", str(ports[2])]
        api = spawner().start(words, tmp_path, {"PYTHONPATH": str(ROOT / "src"), **settings})
        targets = {
            "postmill-worker": [f"127.0.0.1:{port}" for port in ports[:2]],
            "postmill-server": [f"127.0.0.1:{ports[2]}"],
        }
        try:
            with prometheus(tmp_path, targets) as found:
                workers.ready(conn, 2)
                eventually(lambda: len(found.query("up == 1")) == 3, 30, "all targets up")
                recorded = [rule["name"] for rule in rules(found) if rule["type"] == "recording"]
                watch(found, [*SEED_1.values(), *panel_queries(), *recorded], server, conn)
                # Two workers do upkeep and a server stands beside them: what is measured once is counted once. A scrape
                # that comes late on a busy machine leaves a gap until the next.
                backlog = {"queue=CLOSED": float(WAITING)}.items()
                for says, what in (
                    (lambda: backlog <= found.query(SEED_1["backlog"]).items(), "the backlog"),
                    (
                        lambda: max(found.query(SEED_1["screenshots"]).values(), default=0) == 100,
                        "screenshots",
                    ),
                    (lambda: found.query("postmill:workers").get("state=running") == 2, "two workers"),
                    (lambda: found.query("job_budget_consumed_dollars > 0"), "dollars"),
                    (lambda: found.query(RATIO).get("budget=none") == 1, "a budget that is used up"),
                ):
                    eventually(says, 30, what)
                assert {rule["health"] for rule in rules(found)} == {"ok"}
        finally:
            api.close()


def rules(found: Prometheus) -> list[dict[str, str]]:
    return [rule for group in found.get("rules")["groups"] for rule in group["rules"]]
