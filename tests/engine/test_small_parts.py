"""The alarm, deadlines, shares over processes, backoff."""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from postmill.engine.alarm import Alarm
from postmill.engine.database import Backoff
from postmill.engine.deadlines import Deadlines
from postmill.engine.session import Session
from postmill.engine.shares import share_of
from postmill.engine.work import QueueSlots, Work


async def test_an_alarm_set_before_the_wait_is_not_lost() -> None:
    alarm = Alarm()
    alarm.set()
    assert await alarm.wait(10)
    assert not await alarm.wait(0.01)


async def test_an_alarm_wakes_its_waiter() -> None:
    alarm = Alarm()
    waiting = asyncio.create_task(alarm.wait(10))
    await asyncio.sleep(0)
    alarm.set()
    assert await waiting


@given(total=st.integers(0, 1000), processes=st.integers(1, 64))
def test_shares_add_up_and_differ_by_one_at_most(total: int, processes: int) -> None:
    shares = [share_of(total, processes, index) for index in range(processes)]
    assert sum(shares) == total
    assert max(shares) - min(shares) <= 1


def test_backoff_grows_to_its_limit() -> None:
    backoff = Backoff(most=5.0)
    delays = [backoff.delay() for _ in range(20)]
    assert delays[0] <= 0.1
    assert 2.5 <= delays[-1] <= 5.0
    backoff.reset()
    assert backoff.delay() <= 0.1


def _work(timeout: float | None, started: float) -> Work:
    row = (b"\0" * 16, *[None] * 9, timeout)
    work = Work(row, 1, b"", Session(1.0), None, QueueSlots("q", 1), 0.0, 0.0)
    work.task, work.started = cast(Any, object()), started
    return work


def test_deadlines_call_for_what_is_late_and_for_nothing_else() -> None:
    due: list[Work] = []
    now = time.perf_counter()
    late, early, unlimited, ended = (
        _work(1.0, now - 1.5), _work(1.0, now), _work(None, now - 9e9), _work(1.0, now - 5.0)
    )  # fmt: skip
    ended.ended = True
    deadlines = Deadlines(due.append, (late, early, unlimited, ended))
    deadlines.look()
    assert due == [late]
    late.why = "timeout"
    deadlines.look()
    assert due == [late]
