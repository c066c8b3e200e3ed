"""The waits that a retry policy plans, as pages show them."""

from __future__ import annotations

import pytest

from postmill.domain.retry import HOMEPAGE, ByErrorClass, Constant, Exponential, RetryPolicy, Steps, planned


@pytest.mark.parametrize(
    ("policy", "attempts", "waits"),
    [
        (Steps((30, 300)), 5, [30, 300, 300, 300]),
        (Exponential(base=5, factor=2, cap=12), 4, [5, 10, 12]),
        (Constant(7), 1, []),
        (ByErrorClass({"TimeoutError": Constant(1)}, default=Constant(9)), 3, [9, 9]),
        (lambda attempt, error: 1.0, 3, []),
    ],
)
def test_waits_without_jitter(policy: RetryPolicy, attempts: int, waits: list[float]) -> None:
    assert planned(policy, attempts) == waits


def test_of_a_class_of_error_and_of_a_curve() -> None:
    policy = ByErrorClass({"TimeoutError": Constant(1)}, default=Constant(9))
    assert planned(policy, 3, error_class="TimeoutError") == [1, 1]
    assert planned(HOMEPAGE, HOMEPAGE.max_attempts) == [30, 60, 120, 240]
