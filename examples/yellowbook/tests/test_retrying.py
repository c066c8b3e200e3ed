"""Section 3 of the seed: configuration, schedule, decision and delay, number by number."""

from __future__ import annotations

import random

import httpx
import psycopg
import pytest

from examples.yellowbook.bulk import regenerate_embeddings
from examples.yellowbook.gemini.errors import GeminiError
from examples.yellowbook.generate import generate_embedding
from examples.yellowbook.retrying import CLASSIFIER, RETRY, should_retry
from postmill import Bury
from postmill.domain.outcome import MAX_RETRIES_EXCEEDED, PERMANENT_ERROR, Buried, Outcome, Retrying, decide
from postmill.domain.retry import delay_of


class Middle(random.Random):
    """Jitter in the middle, at an end, or wherever it is said to be."""

    def __init__(self, at: float) -> None:
        super().__init__()
        self.at = at

    def random(self) -> float:
        """That place between nothing and one."""
        return self.at


def after(error: Exception, attempt: int, at: float = 0.5) -> Outcome:
    """What the job type decides when attempt number `attempt` has failed."""
    return decide(
        error,
        attempt=attempt,
        max_attempts=generate_embedding.max_attempts,
        policy=generate_embedding.retry,
        verdict=CLASSIFIER.verdict(error),
        rng=Middle(at),
    )


def of_status(status: int, retry_after: str | float | None = None) -> GeminiError:
    return GeminiError(f"{status}: quota", code="X", status=status, retry_after=retry_after)


def test_the_configuration_and_the_schedule() -> None:
    """maxAttempts 5, 2 s doubling: attempts begin at 0, 2, 6, 14 and 30 s; there is no sixth."""
    assert generate_embedding.max_attempts == regenerate_embeddings.max_attempts == 5
    begins = [0.0]
    for attempt in (1, 2, 3, 4):
        outcome = after(of_status(503), attempt)
        assert isinstance(outcome, Retrying)
        begins.append(begins[-1] + outcome.delay)
    assert begins == [0, 2, 6, 14, 30]
    last = after(of_status(503), 5)
    assert isinstance(last, Buried)
    assert last.reason == MAX_RETRIES_EXCEEDED == "max_retries_exceeded"


def test_the_delay_and_its_jitter() -> None:
    """±20 % around min(2 s · 2^(n − 1), 5 min), never above 5 min."""
    for attempt, middle in ((1, 2), (2, 4), (5, 32), (8, 256), (9, 300), (5000, 300)):
        low, high = (delay_of(RETRY, attempt, rng=Middle(at)).seconds for at in (0.0, 1.0))
        assert (low, high) == pytest.approx((middle * 0.8, min(300, middle * 1.2)))


@pytest.mark.parametrize(
    ("error", "again"),
    [
        *((of_status(status), True) for status in (429, 500, 503)),
        (GeminiError("no answer", code="ETIMEDOUT"), True),
        (GeminiError("nobody there", code="ECONNREFUSED"), True),
        *((of_status(status), False) for status in (400, 401, 404)),
        # "Retry if under max attempts": whatever is not in the table.
        *((of_status(status), True) for status in (403, 408, 409, 413, 502, 504)),
        (GeminiError("garbage", code="BAD_ANSWER"), True),
        (psycopg.errors.AdminShutdown("terminating connection"), True),
        (httpx.ReadError("the connection broke"), True),
        (RuntimeError("anything else"), True),
    ],
    ids=repr,
)
def test_the_decision(error: Exception, again: bool) -> None:
    assert [should_retry(error, attempt) for attempt in (1, 4, 5)] == [again, again, False]
    outcome = after(error, 1)
    assert isinstance(outcome, Retrying if again else Buried)
    if isinstance(outcome, Buried):
        assert outcome.reason == PERMANENT_ERROR == "permanent_error"


def test_a_wait_that_the_service_asks_for_wins() -> None:
    for asked, waits in (("7", 7), ("0", 2), (34.07, 34.07)):
        outcome = after(of_status(429, asked), 1)
        assert isinstance(outcome, Retrying)
        assert outcome.delay == pytest.approx(waits, rel=0.21 if waits == 2 else 1e-6)
    assert isinstance(after(of_status(429, "7"), 5), Buried), "it uses up an attempt all the same"


def test_a_business_that_is_gone_is_buried_at_once() -> None:
    outcome = after(Bury("subject_deleted"), 1)
    assert isinstance(outcome, Buried)
    assert outcome.reason == "subject_deleted"
