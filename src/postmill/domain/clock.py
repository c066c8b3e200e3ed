"""Time as a dependency: whoever needs it is given a clock."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Where a process reads time.

    The clock of the process measures lengths; due times, leases and TTLs are compared by the database's clock
    (law 3), never by this one.
    """

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never steps back."""
        ...

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...
