"""Levels, batches and amounts: pure."""

from __future__ import annotations

from datetime import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill.domain.budget import (
    DEFAULT_LEVELS,
    Level,
    amount,
    batch_of,
    level_of,
    percent_of,
    plain,
    tokens,
)
from postmill.domain.budget_fields import check_fields, check_period_name
from postmill.domain.errors import InvalidValue
from postmill.domain.escalation import Escalation, Outlet


@pytest.mark.parametrize(
    ("used", "level", "batch", "action"),
    [
        ("0", Level.NORMAL, 20, "run"),
        ("374.999999999999", Level.NORMAL, 20, "run"),
        ("375", Level.REDUCE, 10, "run"),
        ("449.99", Level.REDUCE, 10, "run"),
        ("450", Level.QUEUE, 0, "defer"),
        ("499.999999999999", Level.QUEUE, 0, "defer"),
        ("500", Level.HARD_STOP, 0, "stop"),
        ("501", Level.HARD_STOP, 0, "stop"),
    ],
)
def test_the_levels_of_seed_1(used: str, level: Level, batch: int, action: str) -> None:
    rule = level_of(Decimal(used), Decimal(500))
    assert (rule.level, batch_of(20, rule.factor), rule.action) == (level, batch, action)


def test_a_limit_of_nothing_is_used_up() -> None:
    assert level_of(Decimal(0), Decimal(0)).level is Level.HARD_STOP
    assert percent_of(Decimal(0), Decimal(0)) == 100


def test_batches() -> None:
    assert [batch_of(n, Decimal("0.5")) for n in (0, 1, 3, 20)] == [0, 1, 1, 10]
    assert batch_of(10, DEFAULT_LEVELS[2].factor) == 0
    for wrong in (-1, 1.5, True, "3", None):
        with pytest.raises(InvalidValue):
            batch_of(wrong, Decimal(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        -1,
        "-0.01",
        float("nan"),
        float("inf"),
        "NaN",
        "sNaN",
        "-Infinity",
        1e300,
        "1e13",
        10**13,
        True,
        None,
        "",
        "1,5",
        [],
        b"1",
    ],
)
def test_what_is_no_amount(wrong: object) -> None:
    with pytest.raises(InvalidValue, match=r"^reserve: "):
        amount(wrong, "reserve")


@given(st.floats(0, 1e12))
def test_floats_are_taken_as_they_are_written(value: float) -> None:
    assert abs(amount(value) - Decimal(str(value))) <= Decimal("5e-13")
    assert Decimal(plain(amount(value))) == amount(value)
    assert "e" not in plain(amount(value)).lower()


def test_amounts() -> None:
    assert amount(0.09) == Decimal("0.09")
    assert amount(0.1 + 0.2) == Decimal("0.3")  # 0.30000000000000004: rounded to twelve decimals
    assert amount(" 5.00 ") == 5
    assert amount("-5", negative=True) == -5
    assert (plain(Decimal("1E+3")), plain(Decimal("0.500")), plain(Decimal(0))) == ("1000", "0.5", "0")
    assert tokens(7) == 7
    for wrong in (-1, 1.0, True, 10**16):
        with pytest.raises(InvalidValue):
            tokens(wrong)


def test_fields() -> None:
    whole = check_fields({"limit": 500}, whole=True)
    assert whole == {
        "limit_amount": "500", "period": "month", "timezone": None, "unit": "USD", "level_from": ["0", "75", "90", "100"],
        "level_factor": ["1", "0.5", "0", "0"], "level_action": ["run", "run", "defer", "stop"],
        "alert_at": ["75", "80", "90", "100"], "alert_severity": ["info", "info", "warning", "critical"],
    }  # fmt: skip
    assert check_fields({"alerts": {}}) == {"alert_at": [], "alert_severity": []}
    with pytest.raises(InvalidValue, match="unknown field 'limits' of a budget; did you mean 'limit'"):
        check_fields({"limits": 5})
    for name in ("2025-01", "2024-02-29"):
        assert check_period_name(name) == name
    for name in ("2025-00", "2025-02-29", "25-01", "2025-01-1", None, "2025-01-01T00:00"):
        with pytest.raises(InvalidValue):
            check_period_name(name)


def test_budgets_are_told_in_the_daily_digest() -> None:
    pager, digest = Outlet("pagerduty"), Outlet("email", digest=time(8))

    def told(queue: str | None = None, **more: Any) -> str | None:
        outlets = {one.name: one for one in (pager, *more.pop("outlets", (digest,)))}
        policy = Escalation(outlets, **more).policy("budget", "ai:2025-01:100", escalation=queue)
        return policy and policy.steps[0].channel

    assert told() == "email"
    assert told("pagerduty") == "pagerduty"  # the queue's own, where an incident is about one
    assert told(default="pagerduty") == "email"
    assert told(kinds={"budget": "pagerduty"}) == "pagerduty"
    assert told(outlets=()) == "pagerduty"
