"""How many workers a queue needs: the rule, and what decides."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmill.domain.scaling import Aim, Because, Load, wanted

IDLE = Load(
    paused=False,
    waiting=0,
    at_least=False,
    oldest_seconds=None,
    running=0,
    arriving=0.0,
    finishing=0.0,
    run_seconds=2.0,
    workers=0,
    draining=0,
    slots=0,
    most_slots=0,
    sla_seconds=None,
    wait_target_seconds=None,
)


@pytest.mark.parametrize(
    ("changed", "aim", "slots", "workers", "because"),
    [
        ({}, Aim(), 0, 0, Because.IDLE),
        ({"arriving": 10.0}, Aim(), 20, 2, Because.RATE),
        ({"arriving": 10.0, "workers": 4, "most_slots": 20}, Aim(), 20, 4, Because.RATE),
        ({"waiting": 1200}, Aim(), 20, 2, Because.BACKLOG),
        ({"waiting": 1200, "wait_target_seconds": 30.0, "sla_seconds": 10.0}, Aim(), 80, 8, Because.BACKLOG),
        ({"waiting": 1200, "sla_seconds": 60.0}, Aim(), 80, 8, Because.BACKLOG),
        ({"waiting": 1200}, Aim(drain_seconds=60, slots_each=8), 40, 5, Because.BACKLOG),
        ({"waiting": 3, "run_seconds": 3600.0}, Aim(drain_seconds=1), 3, 1, Because.BACKLOG),
        ({"waiting": 1}, Aim(), 1, 1, Because.BACKLOG),
        ({"running": 25}, Aim(), 25, 3, Because.RUNNING),
        ({"running": 5, "waiting": 900, "paused": True}, Aim(), 5, 1, Because.PAUSED),
        ({"waiting": 40, "run_seconds": None}, Aim(), 40, 4, Because.UNKNOWN_LENGTH),
        ({"run_seconds": None}, Aim(), 0, 0, Because.IDLE),
        ({}, Aim(least=2), 0, 2, Because.LEAST),
        ({"waiting": 10**6}, Aim(most=30), 16667, 30, Because.MOST),
    ],
)
def test_the_rule(changed: dict[str, object], aim: Aim, slots: int, workers: int, because: Because) -> None:
    found = wanted(replace(IDLE, **changed), aim)  # type: ignore[arg-type]
    assert (found.slots, found.workers, found.because) == (slots, workers, because)
    assert found.text


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(0, 500),
    st.floats(0, 1000),
    st.none() | st.floats(0.001, 1e4),
    st.integers(1, 50),
)
def test_more_work_never_needs_fewer(
    waiting: int, running: int, arriving: float, run: float | None, each: int
) -> None:
    load = replace(IDLE, waiting=waiting, running=running, arriving=arriving, run_seconds=run)
    found = wanted(load, Aim(slots_each=each))
    assert found.workers == ceil(found.slots / each)
    assert found.slots >= running
    assert not waiting or found.workers >= 1
    assert wanted(replace(load, waiting=waiting + 100), Aim(slots_each=each)).slots >= found.slots
    assert wanted(replace(load, arriving=arriving + 1), Aim(slots_each=each)).slots >= found.slots
