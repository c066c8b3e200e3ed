"""Workers that die: by SIGKILL at any moment, by their own handler's hand, by a pause beyond the lease."""

from __future__ import annotations

import random
import signal
import time
from functools import partial

import psycopg
import pytest

from tests.journey.conftest import Journey
from tests.support.eventually import eventually

HELD_UP = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'postmill rescue'"


def kill_at_random(journey: Journey, kills: int, jobs_between: int) -> None:
    """A worker is killed again and again while jobs flow; nothing is lost, and no effect happens twice."""
    rng = random.Random(7)
    stayer = journey.fleet.start("--queues", "default=2")
    for _ in range(kills):
        worker = journey.fleet.start("--queues", "default=5")
        journey.enqueue("p_effect", jobs_between)
        journey.enqueue("p_sleep", 3, '{"seconds": 0.05}')
        sessions = journey.one("select count(*) from postmill.worker")
        eventually(partial(journey.more_workers, sessions), 20)
        time.sleep(rng.uniform(0.0, 0.4))
        worker.kill()
    journey.finish(120)
    assert journey.outcomes() == {"succeeded": kills * (jobs_between + 3)}
    assert journey.one("select count(*), count(distinct job_id) from effect") == (kills * jobs_between,) * 2
    assert stayer.process.poll() is None


def test_sigkill_at_random_moments(journey: Journey) -> None:
    kill_at_random(journey, 6, 40)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_sigkill_at_200_random_moments(journey: Journey) -> None:
    kill_at_random(journey, 200, 40)


def test_recovery_follows_the_lease_and_no_timeout(journey: Journey) -> None:
    """Case 1 and 7: the dead worker's job is back after two leases at most, whatever its timeout is."""
    worker = journey.fleet.start("--queues", "default=2")
    journey.fleet.ready(journey.conn)
    other = journey.fleet.start("--queues", "default=1", settings={"POSTMILL_QUEUES__DEFAULT__SLOTS": "1"})
    journey.fleet.ready(journey.conn, 2)
    time.sleep(3.2)  # the rescuer must have lived one lease itself
    journey.enqueue("p_sleep", 3, '{"seconds": 1.5}')
    eventually(lambda: journey.count("start") == 3)
    holders = {pid for (pid,) in journey.all("select pid from probe")}
    assert len(holders) >= 2
    killed = time.monotonic()
    worker.kill()
    journey.finish(30)
    assert time.monotonic() - killed < 2 * 3.0 + 1.5 + 15
    assert journey.outcomes() == {"succeeded": 3}
    assert other.process.poll() is None


def test_a_round_that_was_held_up_puts_off_no_recovery(journey: Journey) -> None:
    """Who rescues has waited for a lock for a second: it looks again within a lease, and not after fifty seconds."""
    journey.fleet.start("--queues", "default=1")
    journey.fleet.ready(journey.conn)
    time.sleep(3.2)  # the rescuer must have lived one lease itself
    with psycopg.connect(journey.dsn) as holding:
        holding.execute("lock table postmill.running in access exclusive mode")
        eventually(lambda: journey.one(HELD_UP) > 0)
        time.sleep(1.0)
    victim = journey.fleet.start("--queues", "default=2")
    journey.fleet.ready(journey.conn, 2)
    journey.enqueue("p_sleep", 3, '{"seconds": 1.5}')
    eventually(lambda: journey.count("start") == 3)
    killed = time.monotonic()
    victim.kill()
    journey.finish(60)
    assert time.monotonic() - killed < 2 * 3.0 + 1.5 + 15
    assert journey.one("select count(*) from postmill.attempt where status = 'lost'") > 0


def test_a_job_that_kills_its_worker_ends_dead_and_its_neighbours_live(journey: Journey) -> None:
    """Case 49: poison is buried after three starts; nobody is buried for having shared its process."""
    journey.fleet.start("--queues", "default=4", "--processes", "2")
    journey.fleet.ready(journey.conn, 2)
    journey.enqueue("p_die")
    journey.enqueue("p_die", 1, '{"how": "exit"}')
    journey.enqueue("p_ok", 100)
    journey.finish(90)
    assert journey.outcomes() == {"dead_letter": 2, "succeeded": 100}
    rows = journey.all("select reason, attempts from postmill.dead_letter")
    assert rows == [("worker_lost", 3)] * 2
    starts = journey.all(
        "select count(*) from probe p join postmill.dead_letter d on d.id = p.job_id group by p.job_id"
    )
    assert max(n for (n,) in starts) <= 3


def test_a_paused_worker_that_wakes_up_changes_nothing(journey: Journey) -> None:
    """Case 25: SIGSTOP beyond the lease; another finishes the job; the ghost's reports touch no row."""
    paused = journey.fleet.start("--queues", "default=1")
    journey.fleet.ready(journey.conn)
    journey.enqueue("p_sleep", 1, '{"seconds": 2}')
    eventually(lambda: journey.count("start") == 1)
    paused.signal(signal.SIGSTOP)
    try:
        journey.fleet.start("--queues", "default=1")
        eventually(lambda: journey.count("start") == 2, 30)
        eventually(journey.settled, 30)
    finally:
        paused.signal(signal.SIGCONT)
    journey.enqueue("p_ok", 20)
    journey.finish(30)
    assert journey.outcomes() == {"succeeded": 21}
    assert journey.one("select count(*) from postmill.outcome where lost > 0") == 1
    log = journey.fleet.log.read_text()
    assert "lease_lost" in log
    assert paused.process.poll() is None  # it carries on with a new session


def test_a_handler_that_blocks_the_loop_costs_no_lease(journey: Journey) -> None:
    """Case 85: a blocked loop is told by name, and nobody else gets the job."""
    journey.fleet.start("--queues", "default=2")
    journey.fleet.start("--queues", "default=2")
    journey.fleet.ready(journey.conn, 2)
    journey.enqueue("p_block", 1, '{"seconds": 7.5}')
    journey.finish(40)
    assert journey.count("start") == 1
    assert journey.outcomes() == {"succeeded": 1}
    lines = [line for line in journey.fleet.log.read_text().splitlines() if '"loop_blocked"' in line]
    assert lines
    assert "p_block" in lines[0]
    assert "lease_lost" not in journey.fleet.log.read_text()


def test_a_drain_finishes_what_it_can_and_gives_back_the_rest(journey: Journey) -> None:
    """Cases 3, 47, 81: after SIGTERM nothing is claimed; a short job ends; a long one costs no attempt."""
    first = journey.fleet.start("--queues", "default=4", settings={"POSTMILL_WORKER__GRACE": "2"})
    journey.fleet.ready(journey.conn)
    journey.enqueue("p_sleep", 1, '{"seconds": 1}')
    journey.enqueue("p_sleep", 1, '{"seconds": 6}')
    eventually(lambda: journey.count("start") == 2)
    first.signal(signal.SIGTERM)
    eventually(
        lambda: journey.one(
            "select bool_or(draining) or bool_or(stopped_at is not null) from postmill.worker"
        )
    )
    journey.enqueue("p_ok", 20)
    assert first.wait(10) == 0
    assert journey.count("end") == 1
    assert journey.one("select attempt from postmill.ready where run > 0") == 1
    assert journey.all("select status from postmill.attempt") == [("interrupted",)]
    journey.fleet.start("--queues", "default=4")
    journey.finish(40)
    assert journey.outcomes() == {"succeeded": 22}


def test_a_second_signal_ends_at_once(journey: Journey) -> None:
    worker = journey.fleet.start("--queues", "default=1", settings={"POSTMILL_WORKER__GRACE": "60"})
    journey.fleet.ready(journey.conn)
    journey.enqueue("p_sleep", 1, '{"seconds": 30}')
    eventually(lambda: journey.count("start") == 1)
    worker.signal(signal.SIGTERM)
    eventually(lambda: "worker_draining" in journey.fleet.log.read_text())
    began = time.monotonic()
    worker.signal(signal.SIGTERM)
    worker.wait(25)
    assert time.monotonic() - began < 20
    assert journey.one("select count(*) from postmill.running") == 0
