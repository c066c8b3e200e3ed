"""The database goes away: restarted, killed, read-only, not there yet."""

from __future__ import annotations

import time

import psutil
import psycopg
import pytest

from postmill.local.server import LocalServer
from tests.journey.conftest import Journey
from tests.support.eventually import eventually


def test_an_immediate_restart_during_work(own_cluster: LocalServer, own_journey: Journey) -> None:
    """Twice, with long jobs running: one attempt each, for the lease outlives the outage."""
    journey = own_journey
    journey.fleet.start("--queues", "default=8", settings={"POSTMILL_WORKER__LEASE": "20"})
    journey.fleet.ready(journey.conn)
    journey.enqueue("p_sleep", 4, '{"seconds": 5}')
    journey.enqueue("p_effect", 300)
    eventually(lambda: journey.count("start") == 4)
    for _ in range(2):
        own_cluster.restart("immediate")
        journey.again()
        journey.enqueue("p_effect", 100)
    journey.finish(60)
    assert journey.outcomes() == {"succeeded": 504}
    assert journey.count("start") == 4
    assert journey.one("select count(*), count(distinct job_id) from effect") == (500, 500)


def test_a_restart_during_rescue(own_cluster: LocalServer, own_journey: Journey) -> None:
    journey = own_journey
    doomed = journey.fleet.start("--queues", "default=10")
    journey.fleet.ready(journey.conn)
    journey.enqueue("p_sleep", 10, '{"seconds": 1}')
    eventually(lambda: journey.count("start") == 10)
    journey.fleet.start("--queues", "default=10")
    doomed.kill()
    time.sleep(3.5)  # the dead lease is just over: rescue is about to begin or at it
    own_cluster.restart("immediate")
    journey.again()
    journey.finish(60)
    assert journey.outcomes() == {"succeeded": 10}


def test_a_read_only_failover(own_cluster: LocalServer, own_journey: Journey) -> None:
    """Case 9: writes are refused for a while; no job fails for it, no restart is needed."""
    journey = own_journey
    worker = journey.fleet.start("--queues", "default=20", settings={"POSTMILL_WORKER__LEASE": "30"})
    journey.fleet.ready(journey.conn)
    journey.enqueue("p_sleep", 20, '{"seconds": 2}')
    eventually(lambda: journey.count("start") == 20)
    journey.conn.execute("alter system set default_transaction_read_only = on")
    journey.conn.execute("select pg_reload_conf()")
    time.sleep(4)
    with psycopg.connect(journey.dsn, autocommit=True) as conn:
        conn.execute("set default_transaction_read_only = off")
        conn.execute("alter system reset default_transaction_read_only")
        conn.execute("select pg_reload_conf()")
    journey.again()
    journey.finish(40)
    assert journey.outcomes() == {"succeeded": 20}
    assert journey.one("select count(*) from postmill.attempt") == 0
    assert worker.process.poll() is None


def test_a_worker_may_start_before_its_database(own_cluster: LocalServer, own_journey: Journey) -> None:
    journey = own_journey
    journey.enqueue("p_ok", 5)
    own_cluster.stop()
    worker = journey.fleet.start("--queues", "default=2")
    time.sleep(2)
    assert worker.process.poll() is None
    own_cluster.start()
    journey.again()
    journey.finish(30)
    assert journey.outcomes() == {"succeeded": 5}


def outage(own_cluster: LocalServer, journey: Journey, seconds: float) -> None:
    worker = journey.fleet.start("--queues", "default=4")
    journey.fleet.ready(journey.conn)
    journey.enqueue("p_ok", 3)
    eventually(journey.settled)
    own_cluster.stop("immediate")
    process = psutil.Process(worker.pid)
    before, lines = process.cpu_times(), len(journey.fleet.log.read_text().splitlines())
    began = time.monotonic()
    time.sleep(seconds)
    after = process.cpu_times()
    elapsed = time.monotonic() - began
    used = after.user + after.system - before.user - before.system
    written = len(journey.fleet.log.read_text().splitlines()) - lines
    assert used / elapsed < 0.1
    assert written / elapsed < 2
    own_cluster.start()
    journey.again()
    back = time.monotonic()
    journey.enqueue("p_ok", 3)
    journey.finish(30)
    assert time.monotonic() - back < 28
    assert journey.outcomes() == {"succeeded": 6}


def test_an_outage_costs_no_processor_and_few_lines(own_cluster: LocalServer, own_journey: Journey) -> None:
    """Case 17, the short form."""
    outage(own_cluster, own_journey, 12)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_ten_minutes_without_database(own_cluster: LocalServer, own_journey: Journey) -> None:
    outage(own_cluster, own_journey, 600)


def test_every_backend_is_killed_again_and_again(journey: Journey) -> None:
    worker = journey.fleet.start("--queues", "default=6", settings={"POSTMILL_WORKER__LEASE": "20"})
    journey.fleet.ready(journey.conn)
    for _ in range(8):
        journey.enqueue("p_effect", 60)
        journey.conn.execute(
            """select pg_terminate_backend(pid) from pg_stat_activity
                where datname = current_database() and application_name like 'postmill %'"""
        )
        time.sleep(0.3)
    journey.finish(60)
    assert journey.outcomes() == {"succeeded": 480}
    assert journey.one("select count(*), count(distinct job_id) from effect") == (480, 480)
    assert worker.process.poll() is None
    # Back to one connection of each kind.
    eventually(
        lambda: (
            not journey.all(
                """select application_name, count(*) from pg_stat_activity
                where datname = current_database() and application_name like 'postmill %%'
                  and application_name <> 'postmill handler'
                group by 1 having count(*) > 1"""
            )
        )
    )
