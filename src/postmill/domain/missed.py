"""Which ticks are run, and which are left out, when a schedule is looked at late."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import takewhile

from postmill.domain.schedule import Schedule


class Missed(StrEnum):
    """What becomes of ticks that nobody was there to run.

    `skip`: they are left out. `once`: the last of them runs, for all. `all`: each runs, the last `missed_limit` of
    them.
    """

    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


TOLERANCE = timedelta(seconds=60)
"""A tick that is later than this is missed (seed 5: clock drift tolerance). Up to then it is only late, and runs."""

MOST_COUNTED = 1_000
"""Ticks of one stretch that are counted; more are said to be so many."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A stretch of ticks that do not run."""

    first: datetime
    last: datetime
    ticks: int


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be done now: first to note what is left out, then to run, oldest first; and when to look again."""

    run: tuple[datetime, ...]
    left_out: LeftOut | None
    next: datetime | None


def due_now(
    schedule: Schedule, first: datetime, now: datetime, missed: Missed, limit: int, *, at_most: int = 25
) -> Due:
    """What is due at `now` of a schedule whose next tick was to be `first`.

    Args:
        limit: ticks that may run after a stretch of which more were missed.
        at_most: ticks to run at once; what is left is due still, and `next` is its first.
    """
    ticks, whole = _ticks(schedule, first, now, limit)
    if now - first > TOLERANCE:
        if missed is Missed.ONCE:
            kept = [schedule.until(now) or first] if not whole else ticks[-1:]
        elif missed is Missed.SKIP:
            kept = [it for it in (ticks if whole else _last(schedule, now, limit)) if now - it <= TOLERANCE]
        else:
            kept = ticks if whole else _last(schedule, now, limit)
    else:
        kept = ticks if whole else _last(schedule, now, limit)
    run = tuple(kept[:at_most])
    following = kept[at_most] if len(kept) > at_most else schedule.after(now)
    return Due(run, _left_out(schedule, first, kept[0] if kept else now, bool(kept)), following)


def _ticks(schedule: Schedule, first: datetime, now: datetime, limit: int) -> tuple[list[datetime], bool]:
    """The ticks from `first` to `now`, and whether these are all: of more than `limit` only the first few."""
    found = [first]
    for tick in takewhile(lambda tick: tick <= now, schedule.upcoming(first)):
        found.append(tick)
        if len(found) > limit:
            return found, False
    return found, True


def _last(schedule: Schedule, now: datetime, n: int) -> list[datetime]:
    found: list[datetime] = []
    tick = schedule.until(now)
    while tick is not None and len(found) < n:
        found.append(tick)
        tick = schedule.until(tick - timedelta(microseconds=1))
    return found[::-1]


def _left_out(schedule: Schedule, first: datetime, end: datetime, before: bool) -> LeftOut | None:
    """The stretch from `first` up to `end`, which itself counts only where nothing runs."""
    if first >= end if before else first > end:
        return None
    last, ticks = first, 1
    for tick in schedule.upcoming(first):
        if tick >= end if before else tick > end:
            break
        last, ticks = tick, ticks + 1
        if ticks >= MOST_COUNTED:
            last = schedule.until(end - timedelta(microseconds=1) if before else end) or last
            break
    return LeftOut(first, last, ticks)
