"""A workflow as its maker writes it: named jobs that wait for one another. Pure; `start_workflow` inserts it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args
from uuid import UUID

from postmill.domain.errors import WorkflowRefused
from postmill.domain.job import NewJob
from postmill.domain.job_options import normalize
from postmill.domain.lane import DEFAULT_TENANT
from postmill.domain.payload import check_line
from postmill.domain.suggest import did_you_mean
from postmill.domain.topology import in_order

ParentFailure = Literal["cancel", "continue", "hold"]
"""What becomes of a step when one that it waits for is dead, failed or canceled."""

MAX_STEPS = 10_000
MAX_EDGES = 100_000
_FAILURES = get_args(ParentFailure)


@dataclass(frozen=True, slots=True)
class Step:
    """One named job of a workflow. `after`: what it waits for, each with what its failure means for this step."""

    name: str
    job: NewJob
    after: Mapping[str, ParentFailure] = field(default_factory=dict)
    compensate: NewJob | None = None


class Workflow:
    """Jobs that wait for one another, inserted together.

    Args:
        name: what people call it; 1 to 200 bytes.
        key: at most one workflow with this key is live in a tenant; starting another answers with the first one's id.
        tenant, project: whose its jobs are; None is the default tenant, and no project.
        fail_fast: the first failure that is not tolerated cancels everything that has not ended.
        on_success, on_finish: jobs that run when all has succeeded, and when all has ended in whatever way.
        correlation_id, request_id, traceparent, actor_type, actor_id: as those of a job; its jobs carry them.

    Raises PayloadRefused for what cannot be stored.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str | None = None,
        tenant: UUID | str | None = None,
        project: UUID | str | None = None,
        fail_fast: bool = False,
        on_success: NewJob | None = None,
        on_finish: NewJob | None = None,
        **envelope: Any,
    ) -> None:
        self.name = check_line("name", name, longest=200)
        self.key = None if key is None else check_line("key", key)
        self.fail_fast = fail_fast
        self.on_success = on_success
        self.on_finish = on_finish
        given = {"tenant": tenant, "project": project, **envelope}
        options = normalize({name: value for name, value in given.items() if value is not None})
        self.tenant_id = cast("UUID", options.pop("tenant_id", DEFAULT_TENANT))
        self.project_id = cast("UUID | None", options.pop("project_id", None))
        extra = set(options) - {"correlation_id", "request_id", "traceparent", "actor_type", "actor_id"}
        if extra:
            raise TypeError(f"a workflow has no option {min(extra)!r}")
        self.envelope = options
        self._steps: dict[str, Step] = {}

    def add(
        self,
        name: str,
        job: NewJob,
        *,
        after: str | Iterable[str] | Mapping[str, ParentFailure] = (),
        parent_failure: ParentFailure = "cancel",
        compensate: NewJob | None = None,
    ) -> str:
        """Adds a step and returns its name.

        Args:
            name: unique in the workflow; handlers of later steps find this one's result under it.
            job: what a job type's `.new(…)` made. Its delay counts from the end of what it waits for. Tenant, project and
                key are the workflow's.
            after: the steps that it waits for, also ones that are added later; a mapping says for each of them what
                its failure means.
            parent_failure: what a failure means where `after` does not say: `cancel` (this step is canceled), `continue`
                (it runs all the same) or `hold` (it waits for an operator).
            compensate: takes this step back, if it had succeeded and the workflow fails or is canceled.

        Raises:
            WorkflowRefused: the name is taken, or the job has what only the workflow may have.
        """
        check_line("name", name, longest=200)
        if name in self._steps:
            raise WorkflowRefused(f"workflow {self.name!r} has a step {name!r} already")
        waits = _edges(after, parent_failure)
        for what, one in (("job", job), ("compensate", compensate)):
            if one is not None:
                self._check_job(f"step {name!r}: {what}", one)
        self._steps[name] = Step(name, job, waits, compensate)
        return name

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps as they were added."""
        return tuple(self._steps.values())

    def ordered(self) -> list[Step]:
        """The steps, parents before their children.

        Raises:
            WorkflowRefused: there is no step, too many of them, one waits for what is not there, or in a circle.
        """
        if not 0 < len(self._steps) <= MAX_STEPS:
            raise WorkflowRefused(
                f"workflow {self.name!r} has {len(self._steps)} steps; it must have 1 to {MAX_STEPS}"
            )
        edges = sum(len(step.after) for step in self._steps.values())
        if edges > MAX_EDGES:
            raise WorkflowRefused(
                f"workflow {self.name!r} has {edges} lines between its steps; at most {MAX_EDGES} are allowed"
            )
        for step in self._steps.values():
            for parent in step.after:
                if parent not in self._steps:
                    hint = did_you_mean(parent, self._steps, noun="steps")
                    raise WorkflowRefused(
                        f"step {step.name!r} waits for {parent!r}, which is no step of {self.name!r}{hint}"
                    )
        order, circle = in_order({name: step.after for name, step in self._steps.items()})
        if circle:
            raise WorkflowRefused(f"steps of {self.name!r} wait in a circle: {' → '.join(circle)}")
        return [self._steps[name] for name in order]

    def _check_job(self, what: str, job: NewJob) -> None:
        check_step_job(what, job, self.tenant_id)


def check_step_job(what: str, job: NewJob, tenant: UUID) -> None:
    """Raises WorkflowRefused for options that a job of a workflow cannot have."""
    if not isinstance(job, NewJob):
        raise TypeError(f"{what} takes a NewJob, as made by a job type's .new(…), not {type(job).__name__}")
    if job.tenant_id not in (DEFAULT_TENANT, tenant):
        raise WorkflowRefused(f"{what} is another tenant's: all jobs of a workflow have its tenant")
    for option, value in (
        ("key", job.key if not job.key_derived else None),
        ("expires_at", job.expires_at),
        ("lane_key", job.lane_key),
        ("project", job.project_id),
    ):
        if value is not None:
            raise WorkflowRefused(f"{what} has {option}, which a job of a workflow cannot have")


def _edges(
    after: str | Iterable[str] | Mapping[str, ParentFailure], failure: ParentFailure
) -> dict[str, ParentFailure]:
    if isinstance(after, str):
        after = (after,)
    made = dict(after) if isinstance(after, Mapping) else dict.fromkeys(after, failure)
    for policy in (failure, *made.values()):
        if policy not in _FAILURES:
            raise WorkflowRefused(f"parent_failure {policy!r} is none of {', '.join(_FAILURES)}")
    return made
