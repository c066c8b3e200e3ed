"""Settings of queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field

from postmill.domain.boost import AFTER, BEST, LONGEST_STEP, STEP, Boost
from postmill.domain.lane import check_rule
from postmill.domain.queue import Queue, check_queue_name, check_runbook
from postmill.domain.settings_dead import Above
from postmill.domain.settings_limits import check_rate, limits_of
from postmill.domain.settings_types import Count, PositiveSeconds, Section
from postmill.domain.slot_range import SlotRange, Slots

T = TypeVar("T")


class BoostSettings(Section):
    """How jobs rise that have waited for long, as `queues.<NAME>.boost`."""

    after: PositiveSeconds = Field(
        default=AFTER, description="For each so many seconds that a job has waited, it rises by one step."
    )
    step: int = Field(
        default=STEP,
        ge=1,
        le=LONGEST_STEP,
        description="How much the priority number falls at each step; a lower number is more urgent.",
    )
    to: int = Field(default=BEST, description="The most urgent priority that a job can rise to.")


def _slots(value: object) -> Slots:
    """A number, or a range as a table of `min` and `max` or as text."""
    if isinstance(value, Mapping):
        if set(value) != {"min", "max"}:
            raise ValueError(
                f"a range of slots has min and max, not {', '.join(map(str, value)) or 'nothing'}"
            )
        least, most = value["min"], value["max"]
        if not (type(least) is int and type(most) is int):
            raise ValueError("min and max of slots are whole numbers")
        return SlotRange(least, most)
    text = value.strip() if isinstance(value, str) else ""
    if ".." in text:
        return SlotRange.parse(text)
    number = int(text) if text.isascii() and text.isdigit() else value
    if isinstance(number, SlotRange):
        return number
    if type(number) is not int or number < 0:
        raise ValueError("slots are a whole number from 0, or a range as 5..40")
    return number


def _name(name: str | None) -> str | None:
    return None if name is None else check_queue_name(name)


class QueueSettings(Section):
    """One queue, as `queues.<NAME>`."""

    slots: Annotated[Slots, BeforeValidator(_slots)] = Field(
        default=10,
        description="Jobs at once per `postmill worker` command, over all its processes. A range"
        " (`{ min = 5, max = 40 }`, or `5..40`) follows the work.",
    )
    priority: Annotated[int, Field(ge=-(2**31) + 1, le=2**31 - 1)] | None = Field(
        default=None,
        description="Order among queues; a lower number is served first. None leaves it to code, 100 where nobody says.",
    )
    poll_interval: PositiveSeconds = Field(
        default=5.0,
        description="Seconds between looks for work when nothing rings; NOTIFY makes it a fallback only.",
    )
    owner: str | None = Field(default=None, description="Who answers for the queue.")
    contact: str | None = Field(
        default=None, description="Channel on which the owner is told of a breach, e.g. `#platform-feeds`."
    )
    color: str | None = Field(default=None, description="Color of the queue in the console.")
    sla: PositiveSeconds | None = Field(
        default=None,
        description="Seconds within which 95 % of jobs must be finished once due; none is best effort.",
    )
    wait_target: PositiveSeconds | None = Field(
        default=None,
        description="Seconds within which 95 % of jobs must have started once due; none is no target.",
    )
    run_target: PositiveSeconds | None = Field(
        default=None, description="Seconds that 95 % of jobs may run; none is no target."
    )
    escalation: str | None = Field(
        default=None, description="Escalation policy, or channel, for jobs that are given up."
    )
    runbook: Annotated[str | None, AfterValidator(check_runbook)] = Field(
        default=None, description="Address of what whoever is on call shall read; pages link to it."
    )
    dead_letters_as: Annotated[str | None, AfterValidator(_name)] = Field(
        default=None,
        description="Name under which its dead letters are shown and counted, which queues may share; none is its own.",
    )
    max_running: Count | None = Field(
        default=None,
        description="Jobs of the queue at once over the whole fleet; none leaves it to code and operators.",
    )
    rate: Annotated[str | None, AfterValidator(check_rate)] = Field(
        default=None,
        description="How often its jobs start over the whole fleet: `10/1s`; none leaves it to others.",
    )
    lane: Annotated[str, AfterValidator(check_rule)] = Field(
        default="tenant",
        description="Fair shares: `tenant`, `none` (strict order by priority) or `payload.<field>`.",
    )
    dead_letters_above: Above | None = Field(
        default=None,
        description="An incident is raised when more dead letters than this are open in the queue; none is as"
        " `dead_letters.alert_above` says, `off` is never.",
    )
    boost: BoostSettings | None = Field(
        default=None,
        description="Jobs that have waited for long rise in priority; none is strict order by priority.",
    )


def queue_names(queues: Mapping[str, T]) -> Mapping[str, T]:
    """The same, if all are names that queues can have."""
    for name in queues:
        check_queue_name(name)
    return queues


def declared(name: str, queue: QueueSettings) -> Queue:
    """What is stored of a queue: who answers for it, and what is promised."""
    return Queue(
        name,
        priority=queue.priority,
        owner=queue.owner,
        contact=queue.contact,
        color=queue.color,
        sla=queue.sla,
        wait_target=queue.wait_target,
        run_target=queue.run_target,
        escalation=queue.escalation,
        runbook=queue.runbook,
        dead_letters_as=queue.dead_letters_as,
        limits=limits_of(queue.max_running, queue.rate),
        boost=None if queue.boost is None else Boost(**queue.boost.model_dump()),
    )
