"""The planner of claims: turns, weights, cursors."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from postmill.domain.lane import type_prefix
from postmill.engine.lanes import FOREIGN, QueueLanes


def _lane(n: int) -> bytes:
    return n.to_bytes(16, "big")


def _at(n: int) -> bytes:
    return n.to_bytes(8, "big")


def _serve(lanes: QueueLanes, backlog: dict[int, int], batch: int, now: float) -> Counter[int]:
    """One claim against a backlog per lane; what was taken leaves it."""
    took: Counter[int] = Counter()
    for entry in lanes.plan(batch, now):
        n = int.from_bytes(entry.lane, "big")
        got = min(entry.count, backlog[n])
        backlog[n] -= got
        took[n] += got
        lanes.taken(entry, got, _at(1) if got else None, now, 0.001)
    return took


def test_a_hog_delays_a_small_lane_by_one_batch_at_most() -> None:
    lanes = QueueLanes("q")
    lanes.news(_lane(1), 100, discovered=True)
    backlog = {1: 100_000, 2: 1}
    for n in range(20):
        _serve(lanes, backlog, 200, float(n))
    lanes.news(_lane(2), 100, discovered=False)
    assert _serve(lanes, backlog, 200, 21.0)[2] == 1


@given(
    weights=st.lists(st.integers(1, 8), min_size=2, max_size=6),
    batch=st.integers(20, 400),
)
def test_weights_share_a_busy_queue(weights: list[int], batch: int) -> None:
    lanes = QueueLanes("q")
    for n, weight in enumerate(weights):
        lanes.news(_lane(n), 100, discovered=True)
        lanes.lane(_lane(n)).weight = weight
    backlog = dict.fromkeys(range(len(weights)), 10**9)
    took: Counter[int] = Counter()
    for n in range(400):
        took += _serve(lanes, backlog, batch, float(n))
    total, heavy = took.total(), sum(weights)
    for n, weight in enumerate(weights):
        assert abs(took[n] / total - weight / heavy) < 0.05


@given(
    batch=st.integers(1, 500),
    lane_count=st.integers(1, 300),
)
def test_a_plan_never_asks_for_more_than_wanted(batch: int, lane_count: int) -> None:
    lanes = QueueLanes("q")
    for n in range(lane_count):
        lanes.news(_lane(n), 100, discovered=True)
    assert sum(entry.count for entry in lanes.plan(batch, 0.0)) <= batch


@given(
    backlogs=st.lists(st.integers(1, 50), min_size=1, max_size=40),
    batch=st.integers(1, 100),
)
def test_everything_is_served(backlogs: list[int], batch: int) -> None:
    lanes = QueueLanes("q")
    backlog = dict(enumerate(backlogs))
    for n in backlog:
        lanes.news(_lane(n), 100, discovered=True)
    for n in range(sum(backlogs) + 2 * len(backlogs) + 2):
        _serve(lanes, backlog, batch, float(n))
    assert not any(backlog.values())


def test_the_most_urgent_priority_of_a_lane_goes_first() -> None:
    lanes = QueueLanes("q")
    lanes.news(_lane(1), 100, discovered=True)
    lanes.plan(10, 0.0)
    lanes.news(_lane(1), 5, discovered=False)
    assert [entry.priority for entry in lanes.plan(10, 0.0)] == [5]


def test_a_scan_begins_at_the_cursor_and_now_and_then_at_the_head() -> None:
    lanes = QueueLanes("q")
    lanes.news(_lane(1), 100, discovered=True)
    (first,) = lanes.plan(10, 0.0)
    assert first.head
    lanes.taken(first, 10, _at(50), 0.0, 0.001)
    (second,) = lanes.plan(10, 0.1)
    assert (second.head, second.start) == (False, _at(50))
    lanes.taken(second, 10, _at(60), 0.1, 0.001)
    (third,) = lanes.plan(10, 5.0)
    assert third.head
    lanes.taken(third, 10, _at(40), 5.0, 0.001)  # late commits, behind the cursor: look again at once
    (fourth,) = lanes.plan(10, 5.0)
    assert fourth.head
    lanes.taken(fourth, 10, _at(70), 5.0, 0.001)
    (fifth,) = lanes.plan(10, 5.0)
    assert (fifth.head, fifth.start) == (False, _at(70))


def test_a_dear_head_scan_is_made_less_often() -> None:
    lanes = QueueLanes("q")
    lanes.news(_lane(1), 100, discovered=True)
    (entry,) = lanes.plan(10, 0.0)
    lanes.taken(entry, 10, _at(50), 0.0, 0.1)
    assert not lanes.plan(10, 4.9)[0].head
    assert lanes.plan(10, 5.1)[0].head


def test_an_emptied_lane_keeps_its_cursor_until_a_discovery_doubts_it() -> None:
    lanes = QueueLanes("q")
    lanes.news(_lane(1), 100, discovered=True)
    (entry,) = lanes.plan(10, 0.0)
    lanes.taken(entry, 3, _at(50), 0.0, 0.001)
    assert lanes.plan(10, 0.1) == []
    lanes.news(_lane(1), 100, discovered=False)
    (entry,) = lanes.plan(10, 0.1)
    assert entry.start == _at(50)
    lanes.taken(entry, 0, None, 0.1, 0.001)
    lanes.news(_lane(1), 100, discovered=True)
    assert lanes.plan(10, 0.2)[0].head


def test_a_lane_without_token_rests_and_tells_until_when() -> None:
    lanes = QueueLanes("q")
    lanes.news(_lane(1), 100, discovered=True)
    lanes.lane(_lane(1)).shut_until = 7.0
    assert lanes.plan(10, 6.0) == []
    assert lanes.next_open(6.0) == 7.0
    assert not lanes.wants_slots(6.0), "more slots would start nothing"
    lanes.until_slot_free(lanes.lane(_lane(1)), roomy=False)
    assert lanes.wants_slots(6.0), "it is shut for want of a slot"
    lanes.slot_free(only_roomy=True)
    assert lanes.plan(10, 7.0) == []
    lanes.slot_free()
    assert lanes.plan(10, 7.0)


def test_lanes_of_a_limited_type_are_known_by_their_first_half() -> None:
    lanes = QueueLanes("q")
    ruled = [type_prefix("few") + _at(n) for n in range(3)]
    lanes.lane(ruled[0])
    lanes.rule({type_prefix("few"): "few"}, {_lane(1): 3})
    for id in (*ruled, _lane(1)):
        lanes.news(id, 100, discovered=True)
    assert [lanes.lane(id).job_type for id in ruled] == ["few"] * 3
    assert (lanes.lane(_lane(1)).job_type, lanes.lane(_lane(1)).weight) == (None, 3)
    asked = lanes.plan(40, 0.0, {"few": [2]})
    assert sum(entry.count for entry in asked if entry.lane in ruled) == 2
    assert any(entry.lane == _lane(1) for entry in asked)
    lanes.taken(next(entry for entry in asked if entry.lane == _lane(1)), 0, None, 0.0, 0.001)
    assert (lanes.claimable(0.0, {"few": [0]}), lanes.claimable(0.0, {"few": [1]})) == (False, True)
    lanes.belongs(lanes.lane(ruled[0]), _lane(1))
    assert (lanes.lane(ruled[0]).weight, lanes.lane(ruled[1]).weight) == (3, 1)
    lanes.rule({}, {})
    assert (lanes.lane(ruled[0]).job_type, lanes.lane(ruled[0]).weight) == (None, 1)


def test_lanes_of_others_take_no_turn() -> None:
    lanes = QueueLanes("q")
    mine, theirs = _lane(1 << 64), _lane(2 << 64)
    for lane in (mine, theirs):
        lanes.news(lane, 100, discovered=True)
    assert lanes.rule({theirs[:8]: FOREIGN}, {}) == [theirs]
    assert [entry.lane for entry in lanes.plan(100, 1.0)] == [mine]
    lanes.taken(lanes.plan(100, 1.0)[0], 0, None, 1.0, 0.001)
    lanes.news(theirs, 100, discovered=True)
    assert not lanes.has_work, "however much waits there"
    assert not lanes.wants_slots(1.0)
    assert lanes.rule({}, {}) == []
    lanes.news(theirs, 100, discovered=True)
    assert [entry.lane for entry in lanes.plan(100, 1.0)] == [theirs]
