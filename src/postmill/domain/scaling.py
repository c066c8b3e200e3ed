"""How many workers a queue needs, and why. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import ceil

DRAIN = 120.0
"""Seconds within which what waits shall have started, where the queue promises nothing."""

SLOTS_EACH = 10
"""Slots of a worker, where none works and nobody says."""

SHARE_OF_SLA = 0.5
"""What of the promised total may be spent on waiting."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a queue has to do, and who does it. Rates are jobs a second, lengths seconds.

    Attributes:
        waiting: jobs that are due; `at_least`: there may be more.
        oldest_seconds: how long the first of them has waited; None: none waits.
        run_seconds: how long a job runs, on average; None: none has ended lately.
        workers, draining: live sessions that claim, and those that only finish what they have.
        slots, most_slots: of those that claim, now and at most (where slots follow their work).
    """

    paused: bool
    waiting: int
    at_least: bool
    oldest_seconds: float | None
    running: int
    arriving: float
    finishing: float
    run_seconds: float | None
    workers: int
    draining: int
    slots: int
    most_slots: int
    sla_seconds: float | None
    wait_target_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What shall be reached.

    Attributes:
        drain_seconds: what waits shall have started within so long; None: as the queue promises.
        slots_each: slots of one worker of the queue; None: as those that work have, on average.
        least, most: bounds of the answer; None: no upper one.
    """

    drain_seconds: float | None = None
    slots_each: int | None = None
    least: int = 0
    most: int | None = None


class Because(StrEnum):
    """What decided."""

    IDLE = "idle"
    PAUSED = "paused"
    RATE = "rate"
    BACKLOG = "backlog"
    RUNNING = "running"
    UNKNOWN_LENGTH = "unknown_length"
    LEAST = "least"
    MOST = "most"


@dataclass(frozen=True, slots=True)
class Wanted:
    """So many workers with so many slots in all. `because` decided, `text` says how."""

    workers: int
    slots: int
    slots_each: int
    drain_seconds: float
    because: Because
    text: str


def wanted(load: Load, aim: Aim) -> Wanted:
    """Slots for what arrives (Little's law: rate times length) and to start in time what waits; never fewer than run.

    The rule: ceil((arriving + waiting / drain) * run_seconds), at most one slot for each job that there is.
    """
    drain = _drain(load, aim)
    each = aim.slots_each or (round(load.most_slots / load.workers) if load.workers else 0) or SLOTS_EACH
    slots, because, text = _slots(load, drain)
    workers = ceil(slots / each)
    if workers < aim.least:
        workers, because = aim.least, Because.LEAST
        text += f"; at least {aim.least}"
    elif aim.most is not None and workers > aim.most:
        workers, because = aim.most, Because.MOST
        text += f"; at most {aim.most}"
    return Wanted(workers, slots, each, drain, because, text)


def _drain(load: Load, aim: Aim) -> float:
    if aim.drain_seconds is not None:
        return aim.drain_seconds
    if load.wait_target_seconds is not None:
        return load.wait_target_seconds
    return DRAIN if load.sla_seconds is None else load.sla_seconds * SHARE_OF_SLA


def _slots(load: Load, drain: float) -> tuple[int, Because, str]:
    runs = f"{load.running} run"
    if load.paused:
        return load.running, Because.PAUSED, f"the queue is paused: {runs}"
    if load.run_seconds is None:
        if not load.waiting + load.running:
            return 0, Because.IDLE, "nothing waits, runs or arrives"
        slots = load.waiting + load.running
        return slots, Because.UNKNOWN_LENGTH, f"how long jobs run is not known: a slot for each of {slots}"
    keep, backlog = load.arriving * load.run_seconds, load.waiting * load.run_seconds / drain
    there = load.waiting + load.running + ceil(keep)
    need = min(ceil(round(keep + backlog, 6)), there)
    if load.waiting:
        need = max(need, 1)
    if load.running > need:
        return load.running, Because.RUNNING, f"{runs}, and more are not needed"
    if not need:
        return 0, Because.IDLE, "nothing waits, runs or arrives"
    text = (
        f"{load.arriving:.3g} a second arrive and run for {load.run_seconds:.3g} s: {keep:.3g} slots;"
        f" {load.waiting} wait and shall have started within {drain:g} s: {backlog:.3g} slots"
    )
    return need, Because.BACKLOG if backlog > keep else Because.RATE, text
