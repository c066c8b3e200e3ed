"""A queue on a machine, as the tuner of slots meets it: what arrives, what the machine bears, who else needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from postmill.domain.slot_tuner import Look, SlotTuner


@dataclass(frozen=True)
class Point:
    """After one look: slots, jobs that wait, and how many times its usual length a job takes."""

    slots: int
    waiting: float
    slower: float


def course(
    tuner: SlotTuner,
    looks: int,
    *,
    arriving: Callable[[int], float],
    bears: Callable[[int], float],
    cpu: Callable[[int], float] = lambda look: 0.0,
    memory: Callable[[int], float] = lambda look: 0.5,
    length: float = 2.0,
) -> Iterator[Point]:
    """Each job takes `length` looks where no more than `bears` run; beyond that all take longer in proportion."""
    backlog = 0.0
    for look in range(looks):
        backlog += arriving(look)
        active = min(tuner.slots, int(backlog) + (backlog % 1 > 0))
        slower = max(1.0, active / bears(look))
        backlog = max(0.0, backlog - active / (length * slower))
        slots = tuner.look(
            Look(
                active,
                backlog > active,
                slower=slower if active else None,
                cpu=cpu(look),
                memory=memory(look),
            )
        )
        yield Point(slots, backlog, slower)
