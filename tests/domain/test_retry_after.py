from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill.domain.retry_after import LONGEST, retry_after

NOW = datetime(2026, 11, 27, 12, 0, 0, tzinfo=UTC)
IN_40_S = NOW + timedelta(seconds=40)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("120", 120),
        ("0", 0),
        ("-5", 0),
        ("1.5", 1.5),
        (" 60 ", 60),
        ("+7", 7),
        ("120, 60", 120),
        ("9" * 5000, LONGEST),
        ("86401", LONGEST),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        (IN_40_S.strftime("%a, %d %b %Y %H:%M:%S GMT"), 40),
        (IN_40_S.strftime("%a, %d %b %Y %H:%M:%S -0000"), 40),
        ("Fri, 27 Nov 2026 13:00:40 +0100", 40),
        ("Fri, 27 Nov 2026 17:30:40 +0530", 40),
        ("Fri, 27 Nov 2026 08:30:40 -0330", 40),
        (IN_40_S.strftime("%A, %d-%b-%y %H:%M:%S GMT"), 40),
        (IN_40_S.strftime("%a %b %d %H:%M:%S %Y"), 40),
        ("Sun Nov  6 08:49:37 1994", 0),
        ("2026-11-27T12:00:40Z", 40),
        ("2026-11-27T12:00:40+00:00", 40),
        ("Sun, 29 Nov 2026 12:00:00 GMT", LONGEST),
        ("Fri, 27 Nov 2026 12:00:60 GMT", 59),
        (b"30", 30),
        (90, 90),
        (0.25, 0.25),
        (-3, 0),
        (10**400, LONGEST),
        (timedelta(minutes=1), 60),
        (["10", "30", "soon"], 30),
    ],
)
def test_what_servers_send(header: object, expected: float) -> None:
    assert retry_after(header, NOW) == pytest.approx(expected)


@pytest.mark.parametrize(
    "header",
    [
        "", "soon", "12h", "1e3", "nan", "inf", "0x10", "1_000", "٣", "Fri, 31 Feb 2026 12:00:00 GMT",
        "Fri, 27 Nov 10000 12:00:00 GMT", "Fri, 27 Foo 2026 12:00:00 GMT", "2026-11-27T12:00:40",
        "Fri, 27 Nov 2026 12:00:00 +9999", "Fri, 27 Nov 2026 25:00:00 GMT",
        float("nan"), True, None, {}, [], ["soon"],
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_none(header: object) -> None:
    assert retry_after(header, NOW) is None


def test_an_rfc_850_year_is_the_nearest_within_fifty_years() -> None:
    assert retry_after("Sunday, 06-Nov-94 08:49:37 GMT", NOW) == 0  # 1994, not 2094
    assert retry_after("Friday, 27-Nov-76 12:00:00 GMT", NOW) == LONGEST  # 2076


def test_dates_need_a_now() -> None:
    assert retry_after("Fri, 27 Nov 2026 12:00:40 GMT", None) is None
    assert retry_after("40", None) == 40


@given(st.text() | st.floats() | st.integers() | st.binary() | st.datetimes().map(str))
def test_nothing_raises_and_nothing_leaves_the_bounds(value: object) -> None:
    wait = retry_after(value, NOW)
    assert wait is None or 0 <= wait <= LONGEST
