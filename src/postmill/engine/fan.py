"""The steps that a handler adds to its workflow."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from postmill.client.checks import checked
from postmill.client.ruling import of_code
from postmill.domain.errors import WorkflowRefused
from postmill.domain.job import NewJob
from postmill.domain.workflow import MAX_STEPS, ParentFailure, Step, check_step_job
from postmill.domain.workflow_spec import steps_text
from postmill.domain.workflow_told import Told


class Fan:
    """Collects them. Raises WorkflowRefused: the job is no step of a workflow."""

    def __init__(self, workflow: Told | None) -> None:
        if workflow is None or workflow.role != "step" or workflow.step is None:
            raise WorkflowRefused("fan_out: this job is no step of a workflow")
        self._own = workflow.step
        self._room = MAX_STEPS - workflow.total
        self._steps: dict[str, Step] = {}

    def add(
        self,
        jobs: Iterable[NewJob] | Mapping[str, NewJob],
        collect: NewJob | None,
        collect_name: str | None,
        parent_failure: ParentFailure,
    ) -> list[str]:
        """More steps; their names. Raises WorkflowRefused."""
        if not isinstance(jobs, Mapping):
            start = len(self._steps) + 1
            jobs = {f"{self._own}.{n}": job for n, job in enumerate(jobs, start)}
        made = [Step(name, self._checked(name, job)) for name, job in jobs.items()]
        if collect is not None:
            name = collect_name or f"{self._own}.collect"
            after = dict.fromkeys(jobs, parent_failure)
            made.append(Step(name, self._checked(name, collect), after))
        for step in made:
            self.refuse_taken(self._steps, step.name)
            self._steps[step.name] = step
        if len(self._steps) > self._room:
            raise WorkflowRefused(f"fan_out: the workflow would have more than {MAX_STEPS} steps")
        return [step.name for step in made]

    def refuse_taken(self, others: Container[str], name: str) -> None:
        """Raises WorkflowRefused: one of the others, or the step itself, has this name."""
        if name in others or name == self._own:
            raise WorkflowRefused(f"fan_out: there is a step {name!r} already")

    def text(self) -> str:
        """All of them, as the database takes them."""
        return steps_text(self._steps.values())

    @staticmethod
    def _checked(name: str, job: NewJob) -> NewJob:
        check_step_job(f"step {name!r}", job, job.tenant_id)
        return of_code(checked(job))
