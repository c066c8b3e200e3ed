"""The one place where events are emitted. The hot path asks `wants` first and builds no unwanted event."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from postmill.telemetry.event import Event

E = TypeVar("E", bound=Event)
Handler = Callable[[Any], object]

COMPLAIN_EVERY = 60.0
"""Seconds between two log lines about one subscriber that raises."""


def limit_of(share: float) -> bytes:
    """A share of all jobs, 0 to 1, as what the last two bytes of a job's id are compared with: `id[14:] < limit`.

    They are random, so on every machine the same jobs are chosen. Nought is empty, and so false.
    """
    number = round(share * 65_536)
    return b"\xff\xff\xff" if number >= 65_536 else number.to_bytes(2, "big") if number > 0 else b""


class Bus:
    """Hands each event to the subscribers of its type, at once and in the emitter's own thread.

    Subscribing is safe from any thread, and while events are emitted. A subscriber that raises is logged (by
    the logger `postmill.telemetry`, at most once a minute) and never hurts the emitter or other subscribers.
    """

    __slots__ = ("_broken", "_clock", "_handlers", "_lock", "_shares", "wants")

    wants: Callable[[type[Event]], bool]
    """Whether anybody subscribes to this type of event; one look-up in a dict."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._handlers: dict[type[Event], tuple[Handler, ...]] = {}
        self._shares: dict[_Subscription, float] = {}
        self._broken: dict[int, _Complaint] = {}
        self._lock = threading.Lock()
        self._clock = clock
        self.wants = self._handlers.__contains__

    def subscribe(
        self, handler: Callable[[E], object], *event_types: type[E], share: float = 1.0
    ) -> Callable[[], None]:
        """Call `handler` with each event of these exact types; the answer is a function that ends it.

        `share`: of the events of hot paths only those of so many jobs are asked for, 0 to 1 (see `limit_of`); it may be
        handed more.

        Raises TypeError if no event type is named or one is not an Event's class.
        """
        if not event_types:
            raise TypeError("name the event types to subscribe to (ALL_EVENTS for every one)")
        for known in event_types:
            if not (isinstance(known, type) and issubclass(known, Event)):
                raise TypeError(f"{known!r} is no event type")
        subscription = _Subscription(handler)
        with self._lock:
            self._shares[subscription] = share
            for event_type in dict.fromkeys(event_types):
                self._handlers[event_type] = (*self._handlers.get(event_type, ()), subscription)
        return lambda: self._unsubscribe(subscription)

    def emit(self, event: Event) -> None:
        """Hand the event to those who want it. Never raises."""
        for handler in self._handlers.get(type(event), ()):
            try:
                handler(event)
            except Exception:
                self._complain(handler, event)

    def limit(self, event_type: type[Event]) -> bytes:
        """Of which jobs somebody wants this type of event, as `limit_of` writes it; empty: of none."""
        wanted = [self._shares.get(one, 1.0) for one in self._handlers.get(event_type, ())]  # type: ignore[call-overload]
        return limit_of(max(wanted, default=0.0))

    def _unsubscribe(self, subscription: _Subscription) -> None:
        with self._lock:
            for event_type, handlers in list(self._handlers.items()):
                left = tuple(handler for handler in handlers if handler is not subscription)
                if left:
                    self._handlers[event_type] = left
                else:
                    del self._handlers[event_type]
            self._shares.pop(subscription, None)
            self._broken.pop(id(subscription), None)

    def _complain(self, handler: Handler, event: Event) -> None:
        now = self._clock()
        with self._lock:
            complaint = self._broken.setdefault(id(handler), _Complaint(now))
            complaint.count += 1
            if now < complaint.due:
                return
            count, complaint.count, complaint.due = complaint.count, 0, now + COMPLAIN_EVERY
        logging.getLogger("postmill.telemetry").exception(
            "subscriber %r failed on %s (%d times since the last such line)", handler, event.name, count
        )


class _Subscription:
    """One subscription: tells apart two of the same function."""

    __slots__ = ("handler",)

    def __init__(self, handler: Handler) -> None:
        self.handler = handler

    def __call__(self, event: Event) -> None:
        self.handler(event)

    def __repr__(self) -> str:
        return repr(self.handler)


class _Complaint:
    """When the next line about a broken subscriber is due, and how often it failed since the last one."""

    __slots__ = ("count", "due")

    def __init__(self, due: float) -> None:
        self.due = due
        self.count = 0
