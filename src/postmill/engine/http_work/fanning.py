"""Steps that an HTTP worker adds to the workflow of its job, with the job's success."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from postmill.client.checks import checked
from postmill.client.ruling import ruled
from postmill.domain.job import NewJob
from postmill.domain.workflow import ParentFailure
from postmill.domain.workflow_told import Told
from postmill.engine.fan import Fan
from postmill.store.flow import Flow


@dataclass(frozen=True, slots=True)
class FanOut:
    """What `Context.fan_out` takes.

    Attributes:
        jobs: with their names, or None for `step.1`, `step.2` …
    """

    jobs: Sequence[tuple[str | None, NewJob]]
    collect: NewJob | None = None
    collect_name: str | None = None
    parent_failure: ParentFailure = "cancel"

    def made(self, schema: str, workflow: Mapping[str, Any] | None) -> Flow[tuple[list[str], str]]:
        """The names of the steps, and the steps as the database takes them.

        Args:
            workflow: what is known of the workflow of the job that fans out; None: it is in none.

        Raises WorkflowRefused, PayloadRefused.
        """
        fan = Fan(None if workflow is None else Told(**{**workflow, "id": UUID(workflow["id"])}))
        given = [job for _, job in self.jobs] + ([] if self.collect is None else [self.collect])
        ready = yield from ruled(schema, [checked(job) for job in given])
        collect = ready[-1] if self.collect is not None else None
        own = workflow["step"] if workflow is not None else ""
        named: dict[str, NewJob] = {}
        for n, ((name, _), job) in enumerate(zip(self.jobs, ready, strict=False), 1):
            fan.refuse_taken(named, name or f"{own}.{n}")
            named[name or f"{own}.{n}"] = job
        names = fan.add(named, collect, self.collect_name, self.parent_failure)
        return names, fan.text()
