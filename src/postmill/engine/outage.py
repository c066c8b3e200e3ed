"""The database being away, told once and not once per try."""

from __future__ import annotations

import time

from postmill.telemetry.bus import Bus
from postmill.telemetry.events import DatabaseAway, DatabaseBack

_REMIND_AFTER = 30.0  # seconds between reminders: an outage of five minutes is ten lines


class Outage:
    """Shared by all connections of a worker process."""

    def __init__(self, bus: Bus, worker_id: str) -> None:
        self._bus = bus
        self._worker_id = worker_id
        self._since: float | None = None
        self._told = 0.0

    @property
    def lasting(self) -> bool:
        return self._since is not None

    def seen(self, error: BaseException, retry_in: float) -> None:
        moment = time.monotonic()
        if self._since is None:
            self._since = moment
            self._told = float("-inf")
        if moment - self._told >= _REMIND_AFTER:
            self._told = moment
            text = str(error).strip().split("\n", 1)[0] or type(error).__name__
            self._bus.emit(DatabaseAway(worker_id=self._worker_id, error=text, retry_in=retry_in))

    def over(self) -> None:
        if self._since is not None:
            since, self._since = self._since, None
            self._bus.emit(DatabaseBack(worker_id=self._worker_id, outage=time.monotonic() - since))
