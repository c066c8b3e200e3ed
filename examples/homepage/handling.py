"""How a handler says which job type it is for: queue, priority and name come from the registry.

How one is added, with its schedule and its tests, is in the README.
"""

from __future__ import annotations

from typing import Any, Unpack

from examples.homepage.cadences import CADENCES
from examples.homepage.job_types import REGISTRY, JobType
from postmill import JobType as Handler
from postmill import job, schedule
from postmill.typing import DeclaredTrigger, Decorator, JobTypeOptions


def handles(kind: JobType, **options: Unpack[JobTypeOptions]) -> Decorator:
    """As `@job`, with what the registry says of the type. Retries are those of `homepage.yaml` unless `options` say other."""
    family = REGISTRY[kind].family
    options.setdefault("queue", family.queue)
    options.setdefault("priority", family.priority)
    return job(kind.value, **options)


def schedules(kind: JobType, handler: Handler[..., ..., Any]) -> tuple[DeclaredTrigger, ...]:
    """The schedules of a type; each gets a name at the top of the handler's module, where workers find it."""
    return tuple(
        schedule(cadence.label, handler, cron=cadence.cron, timezone=cadence.zone, payload=cadence.payload)
        for cadence in CADENCES[kind]
    )
