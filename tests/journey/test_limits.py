"""A limit of three over a fleet whose workers are killed and paused: never above, never stuck below."""

from __future__ import annotations

import random
import signal
import threading
import time
from functools import partial

import psycopg
import pytest

from postmill.local.server import LocalServer
from tests.journey.conftest import Journey
from tests.support.eventually import eventually

_MOST = 3
# From the start of each attempt to its end, by the database's clock: how many there were at once at most.
_AT_ONCE = """
with spans as (
    select started_at, finished_at from postmill.attempt
    union all select started_at, finished_at from postmill.outcome where attempt_status is not null
), steps as (
    select started_at as at, 1 as step from spans union all select finished_at, -1 from spans
)
select max(n) from (select sum(step) over (order by at, step rows unbounded preceding) as n from steps) x
"""


class Watch(threading.Thread):
    """Looks at the seats all the time: the most that were taken, and the longest that one was free beside waiting jobs."""

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self.dsn = dsn
        self.most = 0
        self.longest_free = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            free_since: float | None = None
            while not self.over.is_set():
                row = conn.execute(
                    "select (select count(*) from postmill.seat), (select count(*) from postmill.running),"
                    " exists (select from postmill.ready)"
                ).fetchone()
                assert row is not None
                self.most = max(self.most, *row[:2])
                now = time.monotonic()
                free_since = (free_since or now) if row[0] < _MOST and row[2] else None
                self.longest_free = max(self.longest_free, now - (free_since or now))
                time.sleep(0.01)


def under_fire(journey: Journey, workers: int, enqueuers: int, rounds: int, pause: float) -> Watch:
    journey.conn.execute("select postmill.door_set_limit('type', 'p_sleep', '{}', %s, null)", (_MOST,))
    fleet = [journey.fleet.start("--queues", "default=5") for _ in range(workers)]
    eventually(lambda: journey.one("select count(*) from postmill.lease") >= workers, 180)
    watch = Watch(journey.dsn)
    watch.start()
    rng = random.Random(5)
    work = threading.Barrier(enqueuers + 1)

    def enqueue() -> None:
        with psycopg.connect(journey.dsn, autocommit=True) as conn:
            for _ in range(rounds):
                work.wait()
                conn.execute("select postmill.enqueue('p_sleep', '{\"seconds\": 0.01}')")

    people = [threading.Thread(target=enqueue) for _ in range(enqueuers)]
    for one in people:
        one.start()
    stopped: list[int] = []
    try:
        for number in range(rounds):
            work.wait()
            time.sleep(pause)
            victim = rng.randrange(workers)
            if number % 4 == 1:
                fleet[victim].kill()
                fleet[victim] = journey.fleet.start("--queues", "default=5")
            elif number % 4 == 3:
                fleet[victim].signal(signal.SIGSTOP)
                stopped.append(victim)
            if len(stopped) > workers // 4:
                fleet[stopped.pop(0)].signal(signal.SIGCONT)
        for one in people:
            one.join()
        for victim in stopped:
            fleet[victim].signal(signal.SIGCONT)
        eventually(partial(journey.settled), 60 + rounds)
    finally:
        watch.over.set()
        watch.join()
    assert journey.outcomes() == {"succeeded": rounds * enqueuers}
    assert journey.one("select count(*) from postmill.seat") == 0
    assert watch.most == _MOST
    assert journey.one(_AT_ONCE) == _MOST
    return watch


def test_a_limit_under_fire(journey: Journey) -> None:
    under_fire(journey, 4, 10, 8, 0.1)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_limit_under_fire_for_1000_rounds(own_journey: Journey, own_cluster: LocalServer) -> None:
    own_cluster.settings["max_connections"] = "500"  # twenty workers have some ten each
    own_cluster.restart()
    own_journey.again()
    watch = under_fire(own_journey, 20, 20, 1000, 0.2)
    # A seat goes with its holder's lease, and whoever waits for one looks by himself when it is his time to poll.
    assert watch.longest_free < 15.0
    print(f"most at once {watch.most}, the longest that a seat was free: {watch.longest_free:.1f} s")  # noqa: T201
