"""Where spending leads if it goes on so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from postmill.domain.projection import projected

START = datetime(2031, 3, 1, tzinfo=UTC)
END = datetime(2031, 4, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("spent", "limit", "after", "at_end", "used_up"),
    [
        ("10", "100", 10 * DAY, "31", None),
        ("50", "100", 10 * DAY, "155", START + 20 * DAY),
        ("100", "100", 10 * DAY, "310", START + 10 * DAY),
        ("0", "100", 10 * DAY, "0", None),
        ("5", "0", 10 * DAY, "15.5", None),
        ("3", "100", timedelta(seconds=5), "3", None),
        ("10", "100", 40 * DAY, "10", None),
        ("0.000001", "1e12", 10 * DAY, "0.000003", None),
    ],
)
def test_the_pace_so_far_goes_on(
    spent: str, limit: str, after: timedelta, at_end: str, used_up: datetime | None
) -> None:
    found = projected(Decimal(spent), Decimal(limit), START, END, START + after)
    assert found.at_end == Decimal(at_end)
    assert found.used_up_at == used_up
