"""How many slots a queue shall have: up by steps while work waits, down by a share when it hurts. Pure: no clock, no I/O.

Additive increase, multiplicative decrease (Chiu and Jain, 1989), as TCP does it. What hurts is that jobs take much
longer than they did with fewer beside them, or that processor or memory run short. A number of slots that has hurt is
kept away from for a while, which doubles each time it is met again: so a steady load ends in a steady number.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SLOWER = 2.0
"""So many times its usual P95 is too slow."""

CPU = 0.8
"""Share of the time for which somebody waits for a processor."""

MEMORY = 0.9
"""Share of the memory that is in use."""

SHRINK = 0.7
"""What remains of the slots after a decrease."""

SAFE = 0.85
"""What of a number that has hurt is free to be used."""

REST = 5
"""Looks after a decrease for which nothing is decided: what runs has to end first."""

PATIENCE = 30
LONGEST_PATIENCE = 480
"""Looks until a number that has hurt is tried again, at first and at most."""

IDLE = 30
"""Looks with at most half of the slots in use after which there is one step less of them."""

STEPS = 20
"""Steps from the floor to the ceiling."""


class Because(StrEnum):
    """Why the number changed."""

    BACKLOG = "backlog"
    LATENCY = "latency"
    CPU = "cpu"
    MEMORY = "memory"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class Look:
    """What is seen of a queue and of the machine at one moment; looks are made at an even pace.

    Attributes:
        active: jobs that run.
        waiting: whether more are known to wait.
        slower: how many times its usual P95 the last jobs took; None: too few have ended to tell.
        cpu: the share of the last seconds in which somebody waited for a processor; None: it cannot be told.
        memory: the share of the memory in use; None: it cannot be told.
    """

    active: int
    waiting: bool
    slower: float | None = None
    cpu: float | None = None
    memory: float | None = None


class SlotTuner:
    """The slots of one queue in one process, from `floor` (where it begins) to `ceiling`. `because`: of the last change;
    `held`: what keeps it from more now: what hurts, or, where work waits, what has hurt here a while ago."""

    def __init__(self, floor: int, ceiling: int) -> None:
        if not 0 < floor <= ceiling:
            raise ValueError(
                f"slots go from a floor of at least 1 to a ceiling, not from {floor} to {ceiling}"
            )
        self.floor = floor
        self.ceiling = ceiling
        self.slots = floor
        self.because: Because | None = None
        self.held: Because | None = None
        self._step = max(1, (ceiling - floor) // STEPS)
        self._rest = 0
        self._idle = 0
        self._sore: int | None = None  # what hurt last
        self._sore_because: Because | None = None
        self._sore_for = 0  # looks since then
        self._patience = PATIENCE
        self._falling = False  # since the last increase: one trouble, however many decreases it takes

    def look(self, seen: Look) -> int:
        """How many slots there are from now on."""
        self._sore_for += 1
        hurts = hurt(seen)
        self._look(seen, hurts)
        kept = seen.waiting and self._limit < self.ceiling and self.slots >= self._limit
        self.held = hurts or (self._sore_because if kept else None)
        return self.slots

    def _look(self, seen: Look, hurts: Because | None) -> None:
        if self._rest > 0:
            self._rest -= 1
        elif hurts is not None:
            self._decrease(hurts)
        elif seen.waiting and seen.active >= self.slots:
            self._idle = 0
            self._increase()
        elif not seen.waiting and 2 * seen.active <= self.slots:
            self._idle += 1
            if self._idle >= IDLE:
                self._idle = 0
                self._set(max(self.floor, self.slots - self._step), Because.IDLE)
        else:
            self._idle = 0

    @property
    def _limit(self) -> int:
        """Up to where it may grow now."""
        if self._sore is None or self._sore_for >= self._patience:
            return self.ceiling
        return max(self.floor, int(self._sore * SAFE))

    def _increase(self) -> None:
        most = min(self.ceiling, self._limit)
        if self.slots < most:
            self._falling = False
            self._set(min(most, self.slots + self._step), Because.BACKLOG)

    def _decrease(self, why: Because) -> None:
        self._idle = 0
        self._rest = REST
        if not self._falling:
            again = self._sore is not None and self._sore_for < 2 * self._patience
            self._patience = min(LONGEST_PATIENCE, 2 * self._patience) if again else PATIENCE
            self._sore = self.slots
            self._falling = True
        self._sore_because = why
        self._sore_for = 0
        self._set(max(self.floor, int(self.slots * SHRINK)), why)

    def _set(self, slots: int, why: Because) -> None:
        if slots != self.slots:
            self.slots = slots
            self.because = why


def hurt(seen: Look) -> Because | None:
    """What hurts, memory first; None: nothing does."""
    if seen.memory is not None and seen.memory >= MEMORY:
        return Because.MEMORY
    if seen.cpu is not None and seen.cpu >= CPU:
        return Because.CPU
    if seen.slower is not None and seen.slower >= SLOWER:
        return Because.LATENCY
    return None
