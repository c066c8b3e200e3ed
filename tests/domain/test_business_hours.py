"""Business hours: what is open, when they begin, and how long so many hours of them last."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest

from postmill.domain.business_hours import Hours, daily, parse_days, parse_time

OFFICE = Hours("Europe/Amsterdam", holidays=frozenset({date(2026, 12, 25)}))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("moment", "opens"),
    [
        ("2026-12-24T12:00+01:00", "2026-12-24T12:00+01:00"),
        ("2026-12-24T08:59+01:00", "2026-12-24T09:00+01:00"),
        ("2026-12-24T17:00+01:00", "2026-12-28T09:00+01:00"),  # Christmas is a Friday, then a weekend
        ("2027-03-27T12:00+01:00", "2027-03-29T09:00+02:00"),  # the clock is changed on Sunday
    ],
)
def test_when_they_begin(moment: str, opens: str) -> None:
    assert OFFICE.opens(at(moment)) == at(opens)
    assert OFFICE.is_open(at(moment)) == (moment == opens)


@pytest.mark.parametrize(
    ("moment", "hours", "end"),
    [
        ("2026-12-23T10:00+01:00", 4, "2026-12-23T14:00+01:00"),
        ("2026-12-23T15:00+01:00", 4, "2026-12-24T11:00+01:00"),
        ("2026-12-24T16:00+01:00", 4, "2026-12-28T12:00+01:00"),
        ("2026-12-26T03:00+01:00", 8, "2026-12-28T17:00+01:00"),
    ],
)
def test_a_response_time_counts_in_them(moment: str, hours: float, end: str) -> None:
    assert OFFICE.after(at(moment), hours * 3600) == at(end)


def test_hours_over_midnight_and_around_the_clock() -> None:
    night = Hours("UTC", frozenset(range(7)), time(22), time(6))
    assert night.is_open(at("2026-05-04T02:00+00:00"))
    assert night.opens(at("2026-05-04T12:00+00:00")) == at("2026-05-04T22:00+00:00")
    always = Hours("UTC", frozenset(range(7)), time(0), time(0))
    assert always.after(at("2026-05-04T12:00+00:00"), 86400) == at("2026-05-05T12:00+00:00")
    never = Hours("UTC", frozenset())
    assert never.opens(at("2026-05-04T12:00+00:00")) == at("2026-05-04T12:00+00:00"), "nothing is lost by it"


def test_once_a_day() -> None:
    assert daily(time(8), "Europe/Amsterdam", at("2026-12-24T08:00+01:00")) == at("2026-12-25T08:00+01:00")
    moment = at("2027-03-27T09:00+01:00")
    assert daily(time(2, 30), "Europe/Amsterdam", moment) - moment < timedelta(hours=18), (
        "within the gap, later"
    )


def test_days_and_times_as_people_write_them() -> None:
    assert parse_days("mon-fri") == frozenset(range(5))
    assert parse_days("Sat-Mon, wednesday") == frozenset({5, 6, 0, 2})
    assert parse_time("24:00") == time(0)
    for parse, text in ((parse_days, "workdays"), (parse_days, ""), (parse_time, "8 o'clock")):
        with pytest.raises(ValueError, match="write"):
            parse(text)
