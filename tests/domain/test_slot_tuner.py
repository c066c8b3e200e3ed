"""Slots that follow their work: bounds, rest, recovery."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmill.domain.settings_queues import QueueSettings
from postmill.domain.slot_range import SlotRange
from postmill.domain.slot_tuner import Because, Look, SlotTuner
from postmill.domain.slots_held import held, held_text
from postmill.domain.usual_length import UsualLength, quantile
from tests.support.slot_model import course

SHARE = st.none() | st.floats(0, 1)
LOOKS = st.builds(Look, st.integers(0, 200), st.booleans(), st.none() | st.floats(0.5, 10), SHARE, SHARE)
FLOORS = st.integers(1, 30)


@settings(max_examples=60)
@given(FLOORS, st.integers(0, 100), st.lists(LOOKS, max_size=300))
def test_slots_stay_within_their_range_and_move_for_a_reason(
    floor: int, more: int, looks: list[Look]
) -> None:
    tuner = SlotTuner(floor, floor + more)
    for seen in looks:
        before = tuner.slots
        after = tuner.look(seen)
        assert tuner.floor <= after <= tuner.ceiling
        if after > before:
            assert tuner.because is Because.BACKLOG
            assert seen.waiting
            assert seen.active >= before
        elif after < before:
            assert tuner.because is not Because.BACKLOG


@settings(max_examples=50)
@given(FLOORS, st.integers(5, 80), st.floats(1, 60), st.floats(0.0, 30.0))
def test_a_steady_load_ends_in_a_steady_number(floor: int, more: int, bears: float, arriving: float) -> None:
    """What changes is a try of what has hurt, at most every eight minutes: up to it, and back."""
    tuner = SlotTuner(floor, floor + more)
    points = list(course(tuner, 2000, arriving=lambda _: arriving, bears=lambda _: bears))[-480:]
    slots = [point.slots for point in points]
    moves = [after - before for before, after in pairwise(slots) if after != before]
    turns = sum((one > 0) != (other > 0) for one, other in pairwise(moves))
    assert turns <= 6
    if arriving * 2 > bears and bears >= floor:  # more than it can do: all of the machine is used
        assert sum(slots) / len(slots) >= min(bears, tuner.ceiling) * 0.8


@settings(max_examples=30)
@given(FLOORS, st.integers(5, 80), st.integers(1, 120))
def test_it_recovers_when_the_pressure_is_over(floor: int, more: int, lasting: int) -> None:
    tuner = SlotTuner(floor, floor + more)

    def cpu(look: int) -> float:
        return 0.95 if 200 <= look < 200 + lasting else 0.1

    points = list(course(tuner, 800, arriving=lambda _: 1000, bears=lambda _: 1e9, cpu=cpu))
    assert points[199].slots == tuner.ceiling
    assert points[200].slots == max(floor, int(tuner.ceiling * 0.7)), "at once"
    assert min(point.slots for point in points[200 : 206 + lasting]) < tuner.ceiling
    assert points[-1].slots == tuner.ceiling


def test_idle_slots_go_away_and_memory_comes_first() -> None:
    tuner = SlotTuner(2, 42)
    for _ in range(10):
        tuner.look(Look(active=tuner.slots, waiting=True))
    assert tuner.slots == 22
    for _ in range(60):
        tuner.look(Look(active=1, waiting=False))
    assert (tuner.slots, tuner.because) == (18, Because.IDLE)
    tuner.look(Look(active=18, waiting=True, slower=9.0, cpu=1.0, memory=0.95))
    assert (tuner.slots, tuner.because, tuner.held) == (12, Because.MEMORY, Because.MEMORY)
    for _ in range(12):
        tuner.look(seen := Look(active=tuner.slots, waiting=True, memory=0.5))
    assert tuner.slots == 15, "not up to what has hurt"
    told = held(tuner.held, seen)
    assert (told, held_text(told)) == ({"because": "memory"}, "memory was short lately")
    told = held(Because.CPU, Look(2, waiting=True, cpu=0.968))
    assert (told, held_text(told)) == ({"because": "cpu", "now": 0.968}, "processor pressure 97 %")
    tuner.look(Look(active=1, waiting=False))
    assert held(tuner.held, seen) is held_text(None) is None
    with pytest.raises(ValueError, match="floor"):
        SlotTuner(0, 3)


def test_usual_lengths() -> None:
    bounds = (1.0, 2.0, 4.0)
    assert quantile([0, 100, 0, 0], bounds, 0.5) == 1.5
    assert quantile([0, 0, 0, 9], bounds, 0.95) == 4.0
    usual = UsualLength(bounds)
    assert usual.look({"a": ([0, 0, 0, 0], 0.0)}) is None
    assert usual.look({"a": ([19, 0, 0, 0], 9.5)}) is None, "too few to tell"
    assert usual.look({"a": ([40, 0, 0, 0], 20.0)}) == 1.0
    assert usual.look({"a": ([40, 40, 0, 0], 61.0)}) == pytest.approx(2.0, rel=0.05), "into the next cell"
    assert usual.look({"a": ([80, 40, 0, 0], 81.0)}) == pytest.approx(1.0, rel=0.05)
    moved = usual.look({"a": ([80, 80, 0, 0], 121.0 - 19)})
    assert moved is not None
    assert moved < 1.1, "the cell only: the mean is as it was"
    slow = [usual.look({"a": ([80, 80, 40 * n, 0], 102.0 + 120.0 * n)}) or 0.0 for n in range(1, 400)]
    assert slow[0] > 3.5
    assert slow[-1] == pytest.approx(1.0, rel=0.01), "what lasts becomes usual"


@pytest.mark.parametrize("given_", [{"min": 5, "max": 40}, "5..40", SlotRange(5, 40)])
def test_a_range_in_the_settings(given_: object) -> None:
    assert QueueSettings.model_validate({"slots": given_}).slots == SlotRange(5, 40)


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ({"min": 5}, "has min and max, not min"),
        ({"min": 5, "max": 5}, "1 <= MIN < MAX"),
        ({"min": 1, "max": "2"}, "whole numbers"),
        ("40..5", "1 <= MIN < MAX"),
        ("5..x", "as 5..40, not '5..x'"),
        (-1, "whole number from 0"),
        (True, "whole number from 0"),
    ],
)
def test_a_range_that_is_none(given_: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        QueueSettings.model_validate({"slots": given_})
