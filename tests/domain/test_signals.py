import pickle
from datetime import timedelta

import pytest

from postmill.domain import signals


@pytest.mark.parametrize(
    "signal",
    [
        signals.Retry("quota", after=60),
        signals.Retry(),
        signals.Snooze(timedelta(minutes=1), "later"),
        signals.Cancel("gone"),
        signals.Bury("bad input"),
        signals.Fail("no"),
        signals.Canceled("by an operator"),
    ],
)
def test_signals_survive_the_way_from_a_child_process(signal: signals.Signal) -> None:
    copy = pickle.loads(pickle.dumps(signal))
    assert type(copy) is type(signal)
    assert vars(copy) == vars(signal)


def test_lengths_are_taken_as_seconds_or_timedelta() -> None:
    assert signals.Retry(after=timedelta(hours=1)).after == 3600
    assert signals.Snooze(5).after == 5
    assert signals.Retry("x").after is None


@pytest.mark.parametrize("after", [float("nan"), -1, "60", 1e300])
def test_a_length_that_is_none_is_refused_where_it_is_written(after: object) -> None:
    with pytest.raises((ValueError, TypeError), match="after"):
        signals.Snooze(after)  # type: ignore[arg-type]


def test_a_handlers_own_except_does_not_swallow_a_cancellation() -> None:
    def step_by_step() -> None:
        for _ in range(3):
            try:
                raise signals.Canceled
            except Exception:
                continue

    with pytest.raises(signals.Canceled, match="the job was canceled"):
        step_by_step()
