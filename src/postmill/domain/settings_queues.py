"""Settings of queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field

from postmill.domain.lane import check_rule
from postmill.domain.queue import Queue, check_queue_name, check_runbook
from postmill.domain.settings_dead import Above
from postmill.domain.settings_limits import check_rate, limits_of
from postmill.domain.settings_types import Count, PositiveSeconds, Section

T = TypeVar("T")


class QueueSettings(Section):
    """One queue, as `queues.<NAME>`."""

    slots: int = Field(
        default=10, ge=0, description="Jobs at once per `postmill worker` command, over all its processes."
    )
    priority: int = Field(default=100, description="Order among queues; a lower number is served first.")
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


def queue_names(queues: Mapping[str, T]) -> Mapping[str, T]:
    """The same, if all are names that queues can have."""
    for name in queues:
        check_queue_name(name)
    return queues


def declared(name: str, queue: QueueSettings) -> Queue:
    """What is stored of a queue: who answers for it, and what is promised."""
    return Queue(
        name,
        owner=queue.owner,
        contact=queue.contact,
        color=queue.color,
        sla=queue.sla,
        wait_target=queue.wait_target,
        run_target=queue.run_target,
        escalation=queue.escalation,
        runbook=queue.runbook,
        limits=limits_of(queue.max_running, queue.rate),
    )
