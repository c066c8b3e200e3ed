"""The alarm, the wheel of deadlines, shares over processes, backoff."""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill.engine.alarm import Alarm
from postmill.engine.database import Backoff
from postmill.engine.session import Session
from postmill.engine.shares import share_of
from postmill.engine.wheel import Wheel
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


def _work() -> Work:
    work = Work((b"\0" * 16,), 1, Session(1.0), None, QueueSlots("q", 1), 0.0, 0.0)
    work.task = cast(Any, object())
    return work


@pytest.mark.parametrize("seconds", [0.0, 0.12])
def test_the_wheel_calls_at_the_deadline_and_not_before(seconds: float) -> None:
    due: list[Work] = []
    wheel = Wheel(due.append)
    work = _work()
    began = time.monotonic()
    wheel.add(work, seconds)
    while not due:
        wheel.turn()
        assert time.monotonic() - began < 5
    assert time.monotonic() - began >= seconds
    wheel.turn()
    assert due == [work]


def test_the_wheel_forgets_ended_jobs() -> None:
    due: list[Work] = []
    wheel = Wheel(due.append)
    work = _work()
    wheel.add(work, 3600)
    work.ended = True
    wheel.sweep()
    assert not wheel._buckets
