import asyncio
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill.domain import outcome as outcomes
from postmill.domain import signals
from postmill.domain.classify import Classifier, classify
from postmill.domain.errors import Fault, Undecodable
from postmill.domain.outcome import Buried, Canceled, Failed, Outcome, Retrying, Snoozed, Succeeded, decide
from postmill.domain.retry import MAX_DELAY, Constant, Exponential
from postmill.domain.text import unstorable
from tests.domain.test_retry import MIDDLE


def ended(error: BaseException | None, **changes: Any) -> Outcome:
    return decide(
        error, **{"attempt": 1, "max_attempts": 5, "policy": Constant(30), "rng": MIDDLE, **changes}
    )


class Http(Exception):
    def __init__(self, status: int, retry_after: str | None = None) -> None:
        headers = {} if retry_after is None else {"retry-after": retry_after}
        self.response = SimpleNamespace(status_code=status, headers=headers)


def test_no_error_is_a_success() -> None:
    assert decide(None, {"a": 1}, attempt=9, max_attempts=1, rng=MIDDLE) == Succeeded({"a": 1})


@pytest.mark.parametrize(("attempt", "kind"), [(1, Retrying), (4, Retrying), (5, Buried), (6, Buried)])
def test_a_transient_error_is_retried_until_the_attempts_are_used_up(attempt: int, kind: type) -> None:
    outcome = ended(TimeoutError("slow"), attempt=attempt)
    assert type(outcome) is kind
    if isinstance(outcome, Retrying):
        assert outcome.delay == 30
        assert outcome.error.message == "slow"
    if isinstance(outcome, Buried):
        assert outcome.reason == "max_retries_exceeded"


def test_without_a_limit_attempts_never_end() -> None:
    assert isinstance(ended(TimeoutError(), attempt=5000, max_attempts=None), Retrying)


def test_a_permanent_error_is_buried_at_once() -> None:
    outcome = ended(Http(404))
    assert isinstance(outcome, Buried)
    assert outcome.reason == "permanent_error"
    assert outcome.error.status == 404


@pytest.mark.parametrize(("error", "attempt"), [(Http(404), 1), (TimeoutError(), 5)])
def test_where_the_definition_says_fail_a_job_fails_instead(error: BaseException, attempt: int) -> None:
    outcome = ended(error, attempt=attempt, on_exhausted="fail")
    assert isinstance(outcome, Failed)
    assert outcome.reason in outcomes.BURY_REASONS


@pytest.mark.parametrize(
    ("header", "delay"), [("120", 120), ("0", 30), ("5", 30), ("999999", 86400), ("soon", 240), ("", 240)]
)
def test_retry_after_wins_over_the_curve_within_base_and_a_day(header: str, delay: float) -> None:
    policy = Exponential(30, 2, None, jitter=(1, 1))
    outcome = ended(Http(503, header), attempt=4, policy=policy)
    assert isinstance(outcome, Retrying)
    assert outcome.delay == delay


def test_retry_after_does_not_give_more_attempts() -> None:
    assert isinstance(ended(Http(503, "5"), attempt=5), Buried)


def test_a_given_verdict_is_used() -> None:
    error = RuntimeError("quota")
    verdict = classify(error, classifier=Classifier().permanent(RuntimeError))
    assert isinstance(ended(error, verdict=verdict), Buried)


def test_what_a_handler_raises_decides() -> None:
    assert ended(signals.Snooze(5, "busy"), attempt=5) == Snoozed(5, "busy")
    assert ended(signals.Cancel("gone")) == Canceled("gone")
    assert ended(signals.Canceled("operator")) == Canceled("operator")
    buried, failed = ended(signals.Bury("deleted")), ended(signals.Fail("no"))
    assert isinstance(buried, Buried)
    assert isinstance(failed, Failed)
    assert (buried.reason, failed.reason) == ("deleted", "no")
    plain = ended(signals.Bury())
    assert isinstance(plain, Buried)
    assert plain.reason == "permanent_error"


def test_a_raised_retry_takes_its_own_delay_or_the_policys() -> None:
    own, curve, zero = ended(signals.Retry(after=7)), ended(signals.Retry("x")), ended(signals.Retry(after=0))
    assert [outcome.delay for outcome in (own, curve, zero) if isinstance(outcome, Retrying)] == [7, 30, 0]
    long = ended(signals.Retry(after=MAX_DELAY * 2))
    assert isinstance(long, Retrying)
    assert long.delay == MAX_DELAY


def test_a_raised_retry_uses_up_an_attempt() -> None:
    outcome = ended(signals.Retry("again", after=1), attempt=5)
    assert isinstance(outcome, Buried)
    assert (outcome.reason, outcome.error.message) == ("max_retries_exceeded", "again")


@pytest.mark.parametrize("on_exhausted", ["dead_letter", "fail"])
def test_an_undecodable_payload_goes_to_the_dead_letters(
    on_exhausted: Literal["dead_letter", "fail"],
) -> None:
    outcome = ended(Undecodable("t", [Fault("args.a", "is missing")]), on_exhausted=on_exhausted)
    assert isinstance(outcome, Buried)
    assert outcome.reason == "undecodable"
    assert "args.a: is missing" in outcome.error.message


async def test_a_signal_of_a_child_task_decides_for_the_group() -> None:
    async def child() -> None:
        raise signals.Snooze(9)

    async def handler() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(child())
            group.create_task(asyncio.sleep(60))

    with pytest.raises(ExceptionGroup) as caught:
        await handler()
    assert ended(caught.value) == Snoozed(9)


def test_a_cancellation_beside_other_errors_is_a_cancellation() -> None:
    assert ended(BaseExceptionGroup("g", [TimeoutError(), signals.Canceled("x")])) == Canceled("x")


def test_a_lone_error_in_a_group_is_recorded_as_itself() -> None:
    outcome = ended(ExceptionGroup("g", [Http(404)]))
    assert isinstance(outcome, Buried)
    assert outcome.error.error_class.endswith("Http")


def test_a_broken_policy_is_told() -> None:
    outcome = ended(TimeoutError(), policy=lambda attempt, error: "soon")
    assert isinstance(outcome, Retrying)
    assert outcome.delay == 5
    assert outcome.fallback is not None
    assert "not str" in outcome.fallback


@given(st.text(st.characters() | st.sampled_from("\0\ud800"), max_size=50), st.sampled_from([1, 5000]))
def test_a_handlers_own_words_can_always_be_stored(text: str, times: int) -> None:
    for signal in (signals.Bury, signals.Fail, signals.Cancel):
        outcome = ended(signal(text * times))
        assert isinstance(outcome, Buried | Failed | Canceled)
        assert unstorable(outcome.reason) is None
        assert len(outcome.reason.encode()) <= outcomes.REASON_BYTES
