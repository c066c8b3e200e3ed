import math
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill.domain.retry import (
    DEFAULT,
    MAX_DELAY,
    ByErrorClass,
    Constant,
    Exponential,
    RetryPolicy,
    Steps,
    base_of,
    delay_of,
    from_json,
    to_json,
)


class Dice:
    """A random source that always throws the same."""

    def __init__(self, value: float) -> None:
        self.value = value

    def random(self) -> float:
        return self.value


LOW, MIDDLE, HIGH = Dice(0.0), Dice(0.5), Dice(math.nextafter(1, 0))

lengths = st.floats(0, 1e6)
jitters = st.tuples(st.floats(0, 10), st.floats(0, 10)).map(lambda pair: (min(pair), max(pair)))
plain = st.one_of(
    st.builds(Exponential, lengths, st.floats(0.001, 1e6), st.none() | lengths, jitters),
    st.builds(Steps, st.lists(lengths, min_size=1, max_size=5).map(tuple), jitters),
    st.builds(Constant, lengths, jitters),
)
policies = st.recursive(
    plain,
    lambda inner: st.builds(
        ByErrorClass, st.dictionaries(st.sampled_from(["OSError", "ValueError", "x.Y"]), inner), inner
    ),
    max_leaves=4,
)


@given(policies, st.integers(-5, 10**30), st.floats(0, 1, exclude_max=True))
def test_every_policy_gives_a_delay_between_now_and_thirty_days(
    policy: RetryPolicy, attempt: int, thrown: float
) -> None:
    delay = delay_of(policy, attempt, rng=Dice(thrown), error=ConnectionError())
    assert 0 <= delay.seconds <= MAX_DELAY
    assert delay.fallback is None


@given(policies)
def test_policies_survive_the_row_of_a_job_definition(policy: RetryPolicy) -> None:
    assert from_json(to_json(policy)) == policy


@pytest.mark.parametrize("factor", [2, 5, 10])
@pytest.mark.parametrize("cap", [None, 60])
def test_five_thousand_attempts_do_not_overflow(factor: float, cap: float | None) -> None:
    policy = Exponential(1, factor, cap)
    limit = MAX_DELAY if cap is None else cap
    rng = random.Random(45)
    delays = [delay_of(policy, attempt, rng=rng).seconds for attempt in range(1, 5001)]
    assert max(delays) <= limit
    assert min(delays[100:]) >= limit * 0.75


def test_the_curve_grows_by_the_factor_and_stops_at_the_cap() -> None:
    policy = Exponential(10, 3, 100, jitter=(1, 1))
    assert [delay_of(policy, n, rng=MIDDLE).seconds for n in range(1, 5)] == [10, 30, 90, 100]


def test_a_factor_below_one_fades_and_a_base_of_zero_stays_zero() -> None:
    assert delay_of(Exponential(10, 0.5, jitter=(1, 1)), 10_000, rng=HIGH).seconds == 0
    assert delay_of(Exponential(0, 10), 10_000, rng=HIGH).seconds == 0


def test_jitter_spreads_a_herd_even_at_the_cap() -> None:
    policy = Exponential(30, 2, 300, jitter=(0.75, 1.25))
    assert delay_of(policy, 20, rng=LOW).seconds == 225
    assert delay_of(policy, 20, rng=HIGH).seconds == pytest.approx(300)
    thrown = {round(delay_of(policy, 20, rng=random.Random(n)).seconds, 3) for n in range(50)}
    assert len(thrown) == 50


def test_steps_repeat_the_last_one() -> None:
    policy = Steps((1, timedelta(minutes=1)))
    assert [delay_of(policy, n, rng=LOW).seconds for n in (0, 1, 2, 3, 5000)] == [1, 1, 60, 60, 60]


def test_an_error_class_is_found_by_full_name_bare_name_or_base() -> None:
    class Throttled(ConnectionError): ...

    full = f"{Throttled.__module__}.{Throttled.__qualname__}"
    for name in (full, "Throttled", "ConnectionError", "OSError"):
        policy = ByErrorClass({name: Constant(7)}, Constant(1))
        assert delay_of(policy, 1, rng=LOW, error=Throttled()).seconds == 7
    assert (
        delay_of(ByErrorClass({"KeyError": Constant(7)}, Constant(1)), 1, rng=LOW, error=Throttled()).seconds
        == 1
    )


def test_the_nearest_class_wins_over_its_base() -> None:
    policy = ByErrorClass({"OSError": Constant(1), "ConnectionError": Constant(2)})
    assert delay_of(policy, 1, rng=LOW, error=ConnectionResetError()).seconds == 2


def test_an_error_class_known_by_name_only() -> None:
    policy = ByErrorClass({"ReadTimeout": Constant(9)}, Constant(1))
    assert delay_of(policy, 1, rng=LOW, error_class="httpx.ReadTimeout").seconds == 9


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: float("nan"), "NaN"),
        (lambda: -1, "0 or more"),
        (lambda: 1e300, "at most ten years"),
        (lambda: "60", "not str"),
        (lambda: None, "not NoneType"),
        (lambda: timedelta.max, "at most ten years"),
    ],
)
def test_a_broken_policy_function_falls_back_to_the_default_and_says_why(
    answer: Callable[[], object], why: str
) -> None:
    delay = delay_of(lambda attempt, error: answer(), 3, rng=MIDDLE, error=OSError())  # type: ignore[arg-type]
    assert delay.seconds == delay_of(DEFAULT, 3, rng=MIDDLE).seconds == 20
    assert delay.fallback is not None
    assert why in delay.fallback


def test_a_policy_function_whose_error_cannot_be_read() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def policy(attempt: int, error: BaseException) -> float:
        raise Mute

    assert delay_of(policy, 1, rng=LOW).fallback == "retry policy failed: Mute: (its message cannot be read)"


def test_a_policy_function_sees_the_attempt_and_the_error() -> None:
    seen = []

    def policy(attempt: int, error: BaseException) -> timedelta:
        seen.append((attempt, type(error)))
        return timedelta(days=40)

    assert delay_of(policy, 7, rng=LOW, error=KeyError()).seconds == MAX_DELAY
    assert seen == [(7, KeyError)]


def test_a_policy_function_gets_a_stand_in_where_only_the_name_of_the_error_is_known() -> None:
    def policy(attempt: int, error: BaseException) -> float:
        return len(str(error))

    assert delay_of(policy, 1, rng=LOW, error_class="httpx.ReadTimeout").seconds == len("httpx.ReadTimeout")
    assert delay_of(policy, 1, rng=LOW).seconds == len("unknown error")


def test_the_global_bound_is_thirty_days() -> None:
    assert delay_of(Constant(timedelta(days=365)), 1, rng=HIGH).seconds == MAX_DELAY == 30 * 24 * 3600


def test_the_base_is_the_least_wait_that_was_meant() -> None:
    assert base_of(Exponential(30, cap=20)) == 20
    assert base_of(Steps((30, 300))) == 30
    assert base_of(Constant(4)) == 4
    assert base_of(ByErrorClass({"OSError": Constant(9)}, Constant(1)), error=OSError()) == 9
    assert base_of(lambda attempt, error: 5) == 0


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (Exponential, {"base": -1}),
        (Exponential, {"base": float("nan")}),
        (Exponential, {"factor": 0}),
        (Exponential, {"factor": float("inf")}),
        (Exponential, {"cap": -1}),
        (Exponential, {"jitter": (1.25, 0.75)}),
        (Exponential, {"jitter": (-1, 1)}),
        (Exponential, {"jitter": (1,)}),
        (Steps, {"delays": ()}),
        (Steps, {"delays": "30"}),
        (Constant, {"delay": "30"}),
        (ByErrorClass, {"policies": {"OSError": 5}}),
        (ByErrorClass, {"policies": {OSError: Constant(1)}}),
        (ByErrorClass, {"policies": {}, "default": Constant}),
    ],
)
def test_policies_that_are_none_are_refused_where_they_are_written(kind: Any, arguments: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        kind(**arguments)


def test_a_function_is_stored_by_name_with_a_stand_in() -> None:
    def patient(attempt: int, error: BaseException) -> float:
        return 60

    stored = to_json(patient)
    assert stored["kind"] == "custom"
    assert str(stored["name"]).endswith("patient")
    assert from_json(stored) == DEFAULT


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "linear"},
        {"kind": "steps"},
        {"kind": "exponential", "base": "x"},
        {"kind": "constant", "delay": 1, "extra": 2},
        {"kind": "by_error_class", "policies": {"OSError": 5}},
    ],
)
def test_stored_policies_that_are_none(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="retry policy"):
        from_json(data)
