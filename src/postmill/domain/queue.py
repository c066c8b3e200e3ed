"""Queues: their names (case is kept, and people need not type it where the name is clear), and who answers for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from postmill.domain.boost import OFF, Boost
from postmill.domain.duration import seconds
from postmill.domain.errors import DefinitionError, UnknownQueue
from postmill.domain.limit import Limit

LONGEST_NAME = 128
USUAL_PRIORITY = 100
"""Of a queue that says nothing else, and of a job."""


def check_queue_name(name: str) -> str:
    """`name` if a queue can have it; ValueError otherwise.

    1 to 128 printable characters without white space, comma and equals sign (which separate queues and slots
    on the command line). A colon is fine: `q:critical`.
    """
    if not 0 < len(name) <= LONGEST_NAME:
        raise ValueError(f"a queue name has 1 to {LONGEST_NAME} characters, not {len(name)}")
    bad = next((c for c in name if c in ",=" or c.isspace() or not c.isprintable()), None)
    if bad is not None:
        raise ValueError(
            f"queue name {name!r} holds {bad!r}; white space, control characters, ',' and '=' may not"
        )
    return name


def match_queue(name: str, known: Iterable[str]) -> str:
    """The known queue that `name` means: spelled exactly, or without case where only one fits.

    Raises UnknownQueue, which says what exists, what was probably meant, or which names compete.
    """
    names = sorted(set(known))
    if name in names:
        return name
    alike = [candidate for candidate in names if candidate.casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0]
    raise UnknownQueue(name, names, alike)


def check_runbook(address: str | None) -> str | None:
    """`address` if pages may link to it; ValueError otherwise: it begins with http:// or https:// and has no blanks."""
    fine = address is None or (
        address.startswith(("http://", "https://"))
        and len(address) <= 2000
        and address.isprintable()
        and " " not in address
    )
    if not fine:
        raise ValueError(f"a runbook is an address that begins with https:// or http://, not {address!r:.80}")
    return address


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue as code declares it: who answers for it, and what is promised. `@job(queue=…)` takes one.

    What the settings say of a queue (`queues.<NAME>`) wins over what stands here.

    Args:
        name: as `check_queue_name` has it.
        owner: who answers for it.
        contact: the channel on which the owner is told of a breach, e.g. `#platform-feeds`.
        color: of the queue in the console.
        sla: seconds (or timedelta) within which 95 % of its jobs are finished once due; None: best effort (seed 1, 1).
        wait_target, run_target: the same for the time until the start, and from there to the end.
        escalation: the escalation policy, or the channel, for jobs that are given up (seed 1, 5).
        dead_letters_as: the name under which its dead letters are shown and counted (API, console, CLI, metrics), which several
            queues may share; nothing moves there, and no job type can belong to it. None: the queue's own.
        runbook: the address (http or https) of what whoever is on call shall read.
        limits: how many of its jobs run at once, and how often they start, over the whole fleet; an empty list says that
            there is none, None leaves it to others.
        boost: how jobs rise that have waited for long; None: they do not (strict order by priority).
        priority: the order among queues, where one worker serves several: a lower number is served first. None leaves it to
            others, 100 where nobody says. (That of jobs within a queue is the job's own.)

    Raises:
        DefinitionError: one of them cannot be.
    """

    name: str
    owner: str | None = None
    contact: str | None = None
    color: str | None = None
    sla: float | timedelta | None = None
    wait_target: float | timedelta | None = None
    run_target: float | timedelta | None = None
    escalation: str | None = None
    dead_letters_as: str | None = None
    runbook: str | None = None
    limits: Iterable[Limit] | None = None
    boost: Boost | None = None
    priority: int | None = None

    def __post_init__(self) -> None:
        try:
            check_queue_name(self.name)
            if self.dead_letters_as is not None:
                check_queue_name(self.dead_letters_as)
            check_runbook(self.runbook)
            if self.priority is not None and not (type(self.priority) is int and abs(self.priority) < 2**31):
                raise ValueError(f"priority is a whole number, not {self.priority!r:.40}")
            if self.limits is not None:
                object.__setattr__(self, "limits", _limits(self.limits))
            for name in TARGETS:
                value = getattr(self, name)
                if value is not None:
                    object.__setattr__(self, name, seconds(value, name, zero=False))
        except (TypeError, ValueError) as fault:
            raise DefinitionError(f"Queue({self.name!r}): {fault}") from None

    def row(self) -> dict[str, object]:
        """In the column names of the table of queues."""
        return {
            "name": self.name,
            "priority": self.priority,
            "owner": self.owner,
            "contact": self.contact,
            "color": self.color,
            "sla_seconds": self.sla,
            "wait_target_seconds": self.wait_target,
            "run_target_seconds": self.run_target,
            "escalation": self.escalation,
            "runbook": self.runbook,
            "dead_letters_as": self.dead_letters_as,
            "limits": None if self.limits is None else [limit.row() for limit in self.limits],
            **(OFF if self.boost is None else self.boost.row()),
        }


def _limits(value: object) -> tuple[Limit, ...]:
    if isinstance(value, Limit) or not isinstance(value, Iterable):
        raise TypeError(f"limits must be a list of Limit(…), not {value!r}")
    found = tuple(value)
    if not all(isinstance(one, Limit) for one in found):
        raise TypeError("limits must be a list of Limit(…)")
    if len({one.per for one in found}) < len(found):
        raise ValueError("limits: two of them count the same; put max_running and rate into one Limit(…)")
    return found


TARGETS = ("sla", "wait_target", "run_target")
"""What a queue may promise of its jobs' P95."""
