"""Slots and limits of one `postmill worker` command, divided over its processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from postmill.domain.registry import Registry
from postmill.domain.slot_range import Slots, least_of, most_of, slots_between


@dataclass(frozen=True, slots=True)
class Share:
    """What one process gets: slots by queue (none of 0), and its part of each limit by job type."""

    slots: dict[str, Slots]
    limits: dict[str, int]


def divide(total: int, parts: int, first: int = 0) -> list[int]:
    """`total` in `parts` whole parts that differ by at most one; the larger ones begin at part `first`."""
    least, extra = divmod(total, parts)
    return [least + (1 if (part - first) % parts < extra else 0) for part in range(parts)]


def shares(
    queues: Mapping[str, Slots], limits: Mapping[str, int], registry: Registry, processes: int
) -> list[Share]:
    """One share per process that gets any slot; fewer than `processes` where there are fewer slots.

    The remainders of the queues begin at different processes, so that four queues of one slot fill four processes.
    Of a range both ends are divided; every process that gets any has one slot at least.

    A limit begins where its queue does, so that a slot and the right to use it come to the same process. A process
    without any part of the limits gets no slot of a queue whose types are all limited: it could run nothing there.
    """
    made = [Share({}, {}) for _ in range(processes)]
    first = 0
    for queue, total in queues.items():
        types = registry.of_queue(queue)
        for job_type in types:
            if job_type.name in limits:
                for share, part in zip(made, divide(limits[job_type.name], processes, first), strict=True):
                    share.limits[job_type.name] = part
        able = [
            share
            for share in made
            if not types or any(share.limits.get(job_type.name, 1) for job_type in types)
        ]
        start = first % len(able)
        least = divide(least_of(total), len(able), start)
        for share, part, floor in zip(able, divide(most_of(total), len(able), start), least, strict=True):
            if part:
                share.slots[queue] = slots_between(max(1, floor), part)
        first += most_of(total)
    return [share for share in made if share.slots]
