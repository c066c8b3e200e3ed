"""The worked examples of the seeds, number by number."""

import pytest

from postmill.domain import curves
from postmill.domain.curves import Curve
from postmill.domain.outcome import Buried, Retrying, decide
from postmill.domain.retry import delay_of
from tests.domain.test_retry import HIGH, LOW, MIDDLE


def span(curve: Curve, attempt: int) -> tuple[float, float]:
    low, high = (delay_of(curve, attempt, rng=rng).seconds for rng in (LOW, HIGH))
    return pytest.approx(low), pytest.approx(high)  # type: ignore[return-value]


def test_homepage() -> None:
    assert [span(curves.HOMEPAGE, n) for n in range(1, 6)] == [
        (22.5, 37.5), (45, 75), (90, 150), (180, 300), (360, 600)
    ]  # fmt: skip
    assert curves.HOMEPAGE.max_attempts == 5


def test_enrichment_is_0_s_30_s_5_min_and_then_over() -> None:
    waits: list[object] = []
    for attempt in (1, 2, 3):
        outcome = decide(
            OSError(),
            attempt=attempt,
            max_attempts=curves.ENRICHMENT.max_attempts,
            policy=curves.ENRICHMENT,
            rng=HIGH,
        )
        waits.append(outcome.delay if isinstance(outcome, Retrying) else outcome)
    assert waits[:2] == [30, 300]
    assert isinstance(waits[2], Buried)
    assert waits[2].reason == "max_retries_exceeded"


def test_yellowbook() -> None:
    assert [delay_of(curves.YELLOWBOOK, n, rng=MIDDLE).seconds for n in range(1, 5)] == [2, 4, 8, 16]
    assert span(curves.YELLOWBOOK, 1) == (1.6, 2.4)
    assert span(curves.YELLOWBOOK, 20)[1] == 300
    assert curves.YELLOWBOOK.max_attempts == 5


def test_planner_and_its_categories() -> None:
    assert delay_of(curves.PLANNER, 1, rng=MIDDLE).seconds == 5
    facts = {
        name: (curve.max_attempts, span(curve, 1000)[1]) for name, curve in curves.PLANNER_CATEGORIES.items()
    }
    assert facts == {
        "notifications": (10, 1800),
        "audit": (5, 300),
        "planning": (3, 120),
        "exports": (5, 600),
        "imports": (5, 600),
        "maintenance": (5, 300),
    }
