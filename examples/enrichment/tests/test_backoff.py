"""Seed 2's unit test “backoff calculation”: the table of its phase 5, and what the service itself asks for."""

from __future__ import annotations

import random

import psycopg
import pytest

from examples.enrichment.api import ApiBusy, ApiRefused, ApiUnavailable
from examples.enrichment.jobs import enrich
from postmill.domain.classify import classify
from postmill.domain.outcome import MAX_RETRIES_EXCEEDED, PERMANENT_ERROR, Buried, Outcome, Retrying, decide

UNAVAILABLE = ApiUnavailable("HTTP_500", "500: Internal Server Error", status_code=500)


def after(error: Exception, attempt: int) -> Outcome:
    """What the job type decides when attempt number `attempt` has failed."""
    return decide(
        error,
        attempt=attempt,
        max_attempts=enrich.max_attempts,
        policy=enrich.retry,
        verdict=classify(error),
        rng=random.Random(7),
    )


def test_the_table() -> None:
    """Attempt 1 runs at once; attempt 2 after 30 s, attempt 3 after 5 min; there is no attempt 4."""
    assert enrich.max_attempts == 3
    second, third, no_more = (after(UNAVAILABLE, attempt) for attempt in (1, 2, 3))
    assert isinstance(second, Retrying)
    assert isinstance(third, Retrying)
    assert isinstance(no_more, Buried)
    assert (second.delay, third.delay, no_more.reason) == (30, 300, MAX_RETRIES_EXCEEDED)


@pytest.mark.parametrize(("asked", "waits"), [("0", 1), ("7", 7), ("90", 90)])
def test_what_the_service_asks_for_wins_over_the_table(asked: str, waits: float) -> None:
    outcome = after(ApiBusy("HTTP_429", "429", status_code=429, retry_after=asked), 1)
    assert isinstance(outcome, Retrying)
    assert outcome.delay == waits


def test_busy_answers_use_up_attempts_too() -> None:
    assert isinstance(after(ApiBusy("HTTP_429", "429", status_code=429, retry_after="1"), 3), Buried)


def test_a_request_that_will_never_be_taken_is_given_up_at_once() -> None:
    outcome = after(ApiRefused("HTTP_422", "422", status_code=422), 1)
    assert isinstance(outcome, Buried)
    assert outcome.reason == PERMANENT_ERROR


def test_a_database_that_was_away_for_a_moment_does_not_cost_half_a_minute() -> None:
    outcome = after(psycopg.errors.AdminShutdown("terminating connection"), 1)
    assert isinstance(outcome, Retrying)
    assert outcome.delay == 2
