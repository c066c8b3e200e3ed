"""Where a budget leads if it is spent from as until now."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from postmill.domain.budget import Standing, standing_of
from postmill.domain.budget_outlook import outlook


@pytest.mark.parametrize(
    ("spent", "passed", "projected", "hours"),
    [
        ("0", 10, None, None),
        ("5", 0.5, None, None),
        ("20", 50, "40", None),
        ("80", 40, "200", 50),
        ("100", 40, "250", 40),
    ],
)
def test_outlooks(spent: str, passed: float, projected: str | None, hours: float | None) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    stands = replace(STANDING, spent=Decimal(spent), starts_at=start, ends_at=start + timedelta(hours=100))
    found = outlook(stands, start + timedelta(hours=passed))
    assert found.projected == (None if projected is None else Decimal(projected))
    assert found.exhausted_at == (None if hours is None else start + timedelta(hours=hours))


STANDING: Standing = standing_of({
    "id": "0198f3a2-7c11-7abc-8d2e-5a1c9f0b7e42", "name": "llm", "tenant_id": None, "unit": "USD", "level": 1, "action": "run",
    "factor": 1, "limit_amount": 100, "spent": 0, "reserved": 0, "calls": 0, "tokens_in": 0, "tokens_out": 0,
    "starts_at": "2026-01-01T00:00:00+00:00", "ends_at": "2026-02-01T00:00:00+00:00", "label": "2026-01",
})  # fmt: skip
