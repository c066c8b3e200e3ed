from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

from postmill.telemetry.bus import Bus
from postmill.telemetry.events import ALL_EVENTS, Event, JobsPromoted, PolicyBroken, PollScanned


def test_an_event_reaches_the_subscribers_of_its_type_only() -> None:
    bus, seen, other = Bus(), [], []
    bus.subscribe(seen.append, JobsPromoted)
    bus.subscribe(other.append, PollScanned)
    bus.emit(JobsPromoted(3))
    assert seen == [JobsPromoted(3)]
    assert other == []


def test_wants_is_a_look_up_in_a_dict_and_tells_whether_building_an_event_is_worth_it() -> None:
    bus = Bus()
    built = []

    def emit_if_wanted() -> None:
        if bus.wants(JobsPromoted):
            built.append(JobsPromoted(1))
            bus.emit(built[-1])

    # A bound method of a dict in C: no Python frame runs on the hot path.
    assert bus.wants.__name__ == "__contains__"
    assert isinstance(bus.wants.__self__, dict)  # type: ignore[attr-defined]
    emit_if_wanted()
    assert built == []
    stop = bus.subscribe(lambda _: None, JobsPromoted)
    emit_if_wanted()
    assert len(built) == 1
    stop()
    emit_if_wanted()
    assert len(built) == 1


def test_a_kept_wants_sees_later_subscriptions() -> None:
    bus = Bus()
    wants = bus.wants
    bus.subscribe(lambda _: None, JobsPromoted)
    assert wants(JobsPromoted)


def test_unsubscribing_is_idempotent_and_ends_one_subscription_only() -> None:
    bus, seen = Bus(), []
    first = bus.subscribe(seen.append, JobsPromoted, PollScanned)
    bus.subscribe(seen.append, JobsPromoted)
    first()
    first()
    bus.emit(JobsPromoted(1))
    assert len(seen) == 1
    assert not bus.wants(PollScanned)


def test_a_type_named_twice_is_subscribed_once() -> None:
    bus, seen = Bus(), []
    bus.subscribe(seen.append, JobsPromoted, JobsPromoted)
    bus.emit(JobsPromoted(1))
    assert len(seen) == 1


@pytest.mark.parametrize("types", [(), (int,), ("JobsPromoted",), (JobsPromoted(1),)])
def test_it_refuses_what_is_no_event_type(types: Any) -> None:
    with pytest.raises(TypeError, match="event type"):
        Bus().subscribe(lambda _: None, *types)


def test_a_broken_subscriber_hurts_nobody_and_is_logged_once_a_minute(
    caplog: pytest.LogCaptureFixture, clock: Any
) -> None:
    bus, seen = Bus(clock=clock), []

    def broken(_: Event) -> None:
        raise ValueError("kaputt")

    stop = bus.subscribe(broken, JobsPromoted)
    bus.subscribe(seen.append, JobsPromoted)
    with caplog.at_level(logging.ERROR, "postmill.telemetry"):
        for _ in range(5):
            bus.emit(JobsPromoted(1))
        assert len(seen) == 5
        assert len(caplog.records) == 1
        assert "kaputt" in caplog.text
        clock.now += 60
        bus.emit(JobsPromoted(1))
        assert len(caplog.records) == 2
        assert "5 times" in caplog.records[1].getMessage()
    stop()
    assert len(seen) == 6


def test_an_interrupt_passes() -> None:
    bus = Bus()

    def interrupted(_: Event) -> None:
        raise KeyboardInterrupt

    bus.subscribe(interrupted, JobsPromoted)
    with pytest.raises(KeyboardInterrupt):
        bus.emit(JobsPromoted(1))


def test_a_subscriber_may_end_itself_while_it_is_called() -> None:
    bus, seen = Bus(), []

    def once(event: Event) -> None:
        seen.append(event)
        stop()

    stop = bus.subscribe(once, JobsPromoted)
    bus.emit(JobsPromoted(1))
    bus.emit(JobsPromoted(2))
    assert seen == [JobsPromoted(1)]


def test_threads_may_subscribe_while_others_emit() -> None:
    bus = Bus()
    counted = []
    bus.subscribe(counted.append, PolicyBroken)

    def churn() -> None:
        for _ in range(200):
            bus.subscribe(lambda _: None, *ALL_EVENTS)()

    threads = [threading.Thread(target=churn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(1000):
        bus.emit(PolicyBroken("a", "b"))
    for thread in threads:
        thread.join()
    assert len(counted) == 1000
    assert [known for known in ALL_EVENTS if bus.wants(known)] == [PolicyBroken]
