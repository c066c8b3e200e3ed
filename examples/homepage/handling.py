"""How a handler says which job type it is for: queue, priority and name come from the registry.

To add a job type: a line in `job_types.py`, its cadence in `cadences.py` if it has one, a handler in `jobs/`.

    @handles(JobType.MY_CUSTOM_JOB)
    async def MyCustomHandler(ctx: Context, some_param: str) -> None:
        ...  # raise to be tried again; return to complete the job

    [MyJobScheduler] = schedules(JobType.MY_CUSTOM_JOB, MyCustomHandler)
"""

from __future__ import annotations

from typing import Any, Unpack

from examples.homepage.cadences import CADENCES
from examples.homepage.job_types import REGISTRY, JobType
from postmill import job, schedule
from postmill.domain.declared import DeclaredTrigger
from postmill.domain.job_type import Decorator
from postmill.domain.job_type import JobType as Handler
from postmill.domain.job_type_options import JobTypeOptions


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
