"""A scheduler as a process: on time, and stopped in the middle of its work while another goes on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection

from tests.support.eventually import eventually
from tests.triggers.support import REGISTER, one, trigger, upkeep

ROOT = Path(__file__).parents[2]


def started(dsn: str) -> subprocess.Popen[bytes]:
    """`postmill upkeep`, as a user starts it."""
    env = dict(os.environ) | {"POSTMILL_DATABASE_URL": dsn, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    return subprocess.Popen(
        [sys.executable, "-m", "postmill", "upkeep"],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


async def test_a_stopped_scheduler_wakes_up_to_what_others_have_done(pg: Connection[Any], dsn: str) -> None:
    pg.execute(REGISTER)
    id = trigger(pg, "each second", every="1 second", missed="all", dedupe_window_seconds=0)

    def ticks() -> int:
        return int(one(pg, "select count(*) from postmill.tick where trigger_id = %s", id))

    process = started(dsn)
    try:
        eventually(lambda: ticks() >= 3, 60, "three ticks of the process")
        late = one(
            pg,
            "select percentile_disc(0.5) within group (order by fired_at - due) from postmill.tick offset 0",
        )
        assert late.total_seconds() < 1.0
        process.send_signal(signal.SIGSTOP)
        seen = ticks()
        async with upkeep(dsn) as rounds:
            while ticks() < seen + 2:
                await rounds.scheduler.nap(min(0.2, await rounds.scheduler.guarded() or 0.2))
        process.send_signal(signal.SIGCONT)
        seen = ticks()
        eventually(lambda: ticks() > seen, 60, "a tick of the process that goes on")
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        assert process.wait(30) == 0
    jobs, distinct, fired = one(
        pg,
        "select count(*), count(distinct j.correlation_id), (select count(*) from postmill.tick where outcome = 'enqueued')"
        " from postmill.job j",
    )
    assert jobs == distinct == fired


async def test_a_round_that_is_stopped_in_its_transaction_is_cut_off(pg: Connection[Any], dsn: str) -> None:
    """Its locks would keep all others out; the server ends its session after a while."""
    async with upkeep(dsn) as rounds:
        link = rounds.links[0]
        for lock, name in (("upkeep/lock", "promote"), ("upkeep/try_lock", "schedule")):
            async with link.transaction():
                await link.rows(lock, [name])
                within = await (await link.connection()).execute("show idle_in_transaction_session_timeout")
                assert await within.fetchone() == ("5s",)
        after = await (await link.connection()).execute("show idle_in_transaction_session_timeout")
        assert await after.fetchone() == ("0",)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_no_tick_falls_into_a_hand_over(pg: Connection[Any], dsn: str) -> None:
    """The one that schedules is killed two hundred times, at any moment around a tick; another one is always there."""
    pg.execute(REGISTER)
    id = trigger(
        pg, "each second", every="1 second", missed="all", missed_limit=1000, dedupe_window_seconds=0
    )
    processes = [started(dsn), started(dsn)]
    try:
        for n in range(200):
            seen = one(pg, "select count(*) from postmill.tick where trigger_id = %s", id)
            eventually(
                lambda seen=seen: (
                    one(pg, "select count(*) from postmill.tick where trigger_id = %s", id) > seen
                ),
                60,
                "the next tick",
            )
            time.sleep(random.uniform(0, 1.2))
            processes[n % 2].kill()
            processes[n % 2].wait()
            processes[n % 2] = started(dsn)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    fired, distinct, steps, late = one(
        pg,
        "select count(*), count(distinct j.correlation_id), extract(epoch from max(k.due) - min(k.due)) + 1,"
        " extract(epoch from max(k.fired_at - k.due)) from postmill.tick k join postmill.job j on j.id = k.job_id",
    )
    assert fired == distinct == steps
    assert late < 30  # the one that is left may just be starting, which takes seconds on a busy machine
