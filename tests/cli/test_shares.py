from hypothesis import given
from hypothesis import strategies as st

from postmill import Registry, job
from postmill.cli.shares import divide, shares
from postmill.domain.slot_range import SlotRange


@given(st.integers(0, 1000), st.integers(1, 50), st.integers(0, 100))
def test_nothing_is_lost_in_a_division(total, parts, first):
    made = divide(total, parts, first)
    assert sum(made) == total
    assert max(made) - min(made) <= 1


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 40), min_size=1),
    st.integers(1, 16),
)
def test_slots_are_divided_whole_and_no_process_is_idle(queues, processes):
    made = shares(queues, {}, Registry(), processes)
    assert 1 <= len(made) <= processes
    assert all(share.slots and all(share.slots.values()) for share in made)
    for queue, total in queues.items():
        parts = [share.slots.get(queue, 0) for share in made]
        assert sum(parts) == total


def test_both_ends_of_a_range_are_divided():
    made = shares({"high": SlotRange(5, 8), "low": SlotRange(1, 4)}, {}, Registry(), 4)
    assert [share.slots["high"] for share in made] == [2, SlotRange(1, 2), SlotRange(1, 2), SlotRange(1, 2)]
    assert [share.slots["low"] for share in made] == [1, 1, 1, 1], "one at least in each"


def test_queues_of_one_slot_fill_one_process_each():
    made = shares({"a": 1, "b": 1, "c": 1, "d": 1}, {}, Registry(), 4)
    assert [list(share.slots) for share in made] == [["a"], ["b"], ["c"], ["d"]]


def test_a_limit_comes_to_the_processes_that_have_slots_for_it():
    @job(queue="screenshot", worker_limit=3)
    def shoot() -> None: ...

    @job
    def other() -> None: ...

    registry = Registry([shoot, other])
    made = shares({"default": 10, "screenshot": 10}, {"shoot": 3}, registry, 4)
    assert sum(share.limits["shoot"] for share in made) == 3
    # A process with no part of the limit could not run anything of that queue, so it has no slot of it.
    assert [share.slots.get("screenshot", 0) > 0 for share in made] == [
        share.limits["shoot"] > 0 for share in made
    ]
    assert sum(share.slots.get("screenshot", 0) for share in made) == 10


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 8))
def test_a_limit_is_never_exceeded_in_sum(limit, slots, processes):
    @job(worker_limit=limit)
    def shoot() -> None: ...

    made = shares({"default": slots}, {"shoot": limit}, Registry([shoot]), processes)
    assert sum(share.limits["shoot"] for share in made) <= limit
    assert all(share.limits["shoot"] > 0 for share in made)
    assert sum(share.slots["default"] for share in made) == slots
