"""Schedules against the oracle: every minute of UTC, converted by zoneinfo, kept where its local fields match.

No cron library is part of the oracle: fields are read here, by hand.
"""

from __future__ import annotations

import calendar
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmill.domain.schedule import cron_schedule
from postmill.domain.zone import Dst

# Northern and southern changes, a change of half an hour, at midnight, none at all, and odd offsets.
ZONES = (
    "Europe/Amsterdam", "America/New_York", "US/Pacific", "Australia/Lord_Howe", "America/Santiago", "America/Havana",
    "Asia/Kathmandu", "Africa/Casablanca", "Pacific/Chatham", "Pacific/Auckland", "Asia/Beirut", "UTC",
)  # fmt: skip
MINUTE = timedelta(minutes=1)
SPAN = 1500
"""Minutes of one walk: a day and an hour."""
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def numbers(field: str, low: int, high: int) -> set[int]:
    """What a field of numbers, ranges, steps and lists names."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        begin = low if span == "*" else int(first)
        end = high if span == "*" or (step and not dash) else int(last or first)
        found.update(range(begin, end + 1, int(step or 1)))
    return found


def matches(line: str, local: datetime) -> bool:
    fields = line.split()
    minute, hour, day, month, weekday = (numbers(f, *r) for f, r in zip(fields, RANGES, strict=True))
    on_day = local.day in day
    on_weekday = local.isoweekday() in weekday or local.isoweekday() % 7 in weekday
    both = fields[2].startswith("*") or fields[4].startswith("*")
    fits = (on_day and on_weekday) if both else (on_day or on_weekday)
    return local.minute in minute and local.hour in hour and local.month in month and fits


def is_wall(line: str) -> bool:
    return line.split()[0].startswith("*") or line.split()[1].startswith("*")


def oracle(lines: str, zone: str, dst: Dst, begin: datetime, minutes: int) -> list[datetime]:
    """The instants in (begin, begin + minutes], by walking."""
    tz = ZoneInfo(zone)
    found: set[datetime] = set()
    for line in lines.splitlines():
        follows_wall = is_wall(line) or dst is Dst.WALL
        before = (begin - 180 * MINUTE).astimezone(tz).replace(tzinfo=None)
        for n in range(-179, minutes + 1):
            instant = begin + n * MINUTE
            aware = instant.astimezone(tz)
            local = aware.replace(tzinfo=None)
            if matches(line, local) and (follows_wall or aware.fold == 0):
                found.add(instant)
            if dst is Dst.ONCE and not follows_wall:
                gap = before + MINUTE
                while gap < local:  # minutes of the wall clock that nobody saw
                    if matches(line, gap):
                        found.add(instant)
                    gap += MINUTE
            before = local
    return sorted(it for it in found if begin < it <= begin + minutes * MINUTE)


@cache
def changes(zone: str) -> tuple[datetime, ...]:
    """The instants from 2024 to 2032 at which the zone's offset changes."""
    tz = ZoneInfo(zone)
    hour, found = timedelta(hours=1), []
    hours = (datetime(2024, 1, 1, tzinfo=UTC) + n * hour for n in range(9 * 366 * 24))
    for earlier, later in pairwise(hours):
        if earlier.astimezone(tz).utcoffset() != later.astimezone(tz).utcoffset():
            found.append(later)
    return tuple(found)


def edges(zone: str) -> list[datetime]:
    """Changes of the clock, leap days, and ends of months and years."""
    days = [datetime(y, 2, 29, tzinfo=UTC) for y in (2024, 2028, 2032)]
    days += [
        datetime(y, m, calendar.monthrange(y, m)[1], 12, tzinfo=UTC)
        for y in (2026, 2027)
        for m in (1, 2, 4, 12)
    ]
    return [*changes(zone), *days]


def field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    return st.one_of(
        st.just("*"),
        number.map(str),
        st.integers(2, 12).map(lambda step: f"*/{step}"),
        st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}"),
        st.tuples(number, number, number).map(lambda many: ",".join(map(str, many))),
        st.tuples(number, st.integers(2, 20)).map(lambda pair: f"{pair[0]}/{pair[1]}"),
    )


# Mostly lines of the small hours, where clocks are changed; days that are not too rare.
line = st.tuples(
    field(0, 59),
    st.one_of(field(0, 4), field(0, 23), st.just("23")),
    st.one_of(st.just("*"), st.just("*"), field(1, 28)),
    st.one_of(st.just("*"), st.just("*"), field(1, 12)),
    st.one_of(st.just("*"), st.just("*"), field(0, 7)),
).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_schedules_are_what_a_walk_through_every_minute_finds(data: st.DataObject) -> None:
    walk(data)


@pytest.mark.long
@pytest.mark.timeout(900)
@settings(max_examples=10_000, deadline=None)
@given(data=st.data())
def test_and_ten_thousand_of_them(data: st.DataObject) -> None:
    walk(data)


def walk(data: st.DataObject) -> None:
    """One schedule around one edge, forwards and backwards."""
    zone = data.draw(st.sampled_from(ZONES))
    lines = "\n".join(data.draw(st.lists(line, min_size=1, max_size=2)))
    dst = data.draw(st.sampled_from(list(Dst)))
    edge = data.draw(st.sampled_from(edges(zone)))
    begin = (edge + timedelta(minutes=data.draw(st.integers(-SPAN, 0)))).replace(second=0)
    expected = oracle(lines, zone, dst, begin, SPAN)
    schedule = cron_schedule(lines, zone, dst)
    end = begin + SPAN * MINUTE

    forwards, at = [], begin
    while (found := schedule.after(at)) is not None and found <= end:
        assert found > at
        forwards.append(found)
        at = found
    assert forwards == expected

    backwards, at = [], end
    while (back := schedule.until(at)) is not None and back > begin:
        assert back <= at
        backwards.append(back)
        at = back - timedelta(microseconds=1)
    assert backwards[::-1] == expected


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "zone", "begin", "due"),
    [
        ("30 2 * * *", "Europe/Amsterdam", "2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30"]),
        ("30 2 * * *", "Europe/Amsterdam", "2027-03-27T12:00", ["2027-03-28T01:00", "2027-03-29T00:30"]),
        ("0 * * * *", "US/Pacific", "2026-11-01T05:30", [f"2026-11-01T{h:02}:00" for h in (6, 7, 8, 9, 10)]),
        ("0 9 29 2 *", "UTC", "2026-01-01T00:00", ["2028-02-29T09:00", "2032-02-29T09:00"]),
        ("4 16 * * *", "America/New_York", "2027-03-14T00:00", ["2027-03-14T20:04"]),
        ("0 8 * * 0", "America/Chicago", "2027-03-13T00:00", ["2027-03-14T13:00"]),
        ("0 0 31 * *", "UTC", "2026-12-31T00:00", [f"2027-{m:02}-31T00:00" for m in (1, 3, 5, 7, 8, 10, 12)]),
        # The last weekday of a month, its last Friday, its second one.
        ("0 9 LW * *", "UTC", "2026-05-01T00:00", ["2026-05-29T09:00", "2026-06-30T09:00"]),
        ("0 9 * * 5L", "UTC", "2026-05-01T00:00", ["2026-05-29T09:00"]),
        ("0 9 * * FRI#2", "UTC", "2026-05-01T00:00", ["2026-05-08T09:00"]),
        # The 13th or a Friday; with a star in one of the two, both must fit.
        ("0 0 13 * 5", "UTC", "2026-05-01T00:00", ["2026-05-08T00:00", "2026-05-13T00:00", "2026-05-15T00:00"]),
        ("0 0 */2 * 5", "UTC", "2026-05-02T00:00", ["2026-05-15T00:00", "2026-05-29T00:00"]),
        # The clock of Havana is set forward at midnight.
        ("58/1 23 * * *", "America/Havana", "2024-03-10T04:57", ["2024-03-10T04:58", "2024-03-10T04:59"]),
        ("*/20 2 * * *", "Australia/Lord_Howe", "2026-04-04T12:00",
         ["2026-04-04T15:30", "2026-04-04T15:50", "2026-04-04T16:10"]),
    ],
)  # fmt: skip
def test_known_days(line: str, zone: str, begin: str, due: list[str]) -> None:
    upcoming = cron_schedule(line, zone).upcoming(utc(begin))
    assert [found for found, _ in zip(upcoming, due, strict=False)] == [utc(it) for it in due]


@pytest.mark.parametrize(
    "line", ["* * * * *", "30 * * * *", "0 */2 * * *", "30 2 * * *", "0 0 * * 0", "15 3 * * *", "59 23 L * *"]
)
def test_every_zone_moves_on_over_its_changes(line: str) -> None:
    """No zone stands still or goes back, each step in a fraction of the 10 ms that it may take."""
    for name in (
        "America/Sao_Paulo",
        "Asia/Gaza",
        "Asia/Tehran",
        "America/Nuuk",
        "Antarctica/Troll",
        "Africa/Cairo",
        *ZONES,
    ):
        schedule = cron_schedule(line, name)
        for change in changes(name)[:4]:
            at = change - timedelta(hours=24)
            for _ in range(40):
                found = schedule.after(at)
                assert found is not None
                assert found > at
                at = found
