from datetime import timedelta

import pytest

from postmill.domain.limit import Rate


def test_a_rate_in_seconds() -> None:
    rate = Rate(25, timedelta(days=1))
    assert rate.seconds == 86400
    assert rate.interval == 3456
    assert rate.capacity == 25
    assert Rate(1, 1, burst=1).capacity == 1
    assert Rate(10, 1, burst=3).capacity == 3
    assert Rate(25, timedelta(days=1)) == Rate(25, 86400)


@pytest.mark.parametrize(
    "arguments",
    [(0, 1), (-1, 1), (1.5, 1), (True, 1), (1, 0), (1, -1), (1, float("nan")), (1, 1, 0), (1, 1, "2")],
)
def test_rates_that_are_none(arguments: tuple[object, ...]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Rate(*arguments)  # type: ignore[arg-type]
