"""What runs after a time in which nobody looked: the policy, to the letter, around any downtime."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill.domain.missed import TOLERANCE, Due, Missed, due_now
from postmill.domain.schedule import Schedule, cron_schedule, every

START = datetime(2026, 3, 1, tzinfo=UTC)
SCHEDULES = [cron_schedule("* * * * *", "UTC"), cron_schedule("*/7 * * * *", "UTC"), every(90, START), every(1, START),
             cron_schedule("0 3 * * *", "Europe/Amsterdam")]  # fmt: skip


def ticks(schedule: Schedule, first: datetime, now: datetime) -> list[datetime]:
    found = [first]
    while (after := schedule.after(found[-1])) is not None and after <= now:
        found.append(after)
    return found


def all_of(
    schedule: Schedule, first: datetime, now: datetime, missed: Missed, limit: int
) -> tuple[list[datetime], int]:
    """What runs in all, round after round at the same moment, and how many were left out."""
    run: list[datetime] = []
    left_out = 0
    following: datetime | None = first
    for _ in range(1000):
        if following is None or following > now:
            return run, left_out
        due: Due = due_now(schedule, following, now, missed, limit, at_most=7)
        assert due.run or due.left_out
        run += due.run
        left_out += due.left_out.ticks if due.left_out else 0
        following = due.next
    raise AssertionError("it never ends")


@given(
    schedule=st.sampled_from(SCHEDULES),
    missed=st.sampled_from(list(Missed)),
    limit=st.integers(1, 40),
    away=st.floats(0, 4000),
)
def test_each_tick_runs_or_is_left_out_as_the_policy_says(
    schedule: Schedule, missed: Missed, limit: int, away: float
) -> None:
    first = schedule.after(START)
    assert first is not None
    now = first + timedelta(seconds=away)
    every_one = ticks(schedule, first, now)
    run, left_out = all_of(schedule, first, now, missed, limit)
    assert run == sorted(set(run))
    assert set(run) <= set(every_one)
    assert len(run) + left_out == len(every_one) or left_out >= 1000
    if now - first <= TOLERANCE or missed is Missed.ALL:
        assert run == every_one[-limit:]
    elif missed is Missed.ONCE:
        assert run == every_one[-1:]
    else:
        assert run == [it for it in every_one if now - it <= TOLERANCE][-limit:]


@pytest.mark.parametrize(("seconds", "runs"), [(1.5, (1, 1, 1)), (300, (1, 1, 6)), (3 * 86400, (1, 1, 100))])
def test_minutes_after_a_downtime(seconds: float, runs: tuple[int, int, int]) -> None:
    """Of 1.5 s, of five minutes and of three days: skip, once, all up to a hundred."""
    now = START + timedelta(minutes=1, seconds=seconds)
    found = [
        len(all_of(SCHEDULES[0], START + timedelta(minutes=1), now + timedelta(seconds=0.5), missed, 100)[0])
        for missed in Missed
    ]
    assert tuple(found) == runs
