"""A batch as its maker writes it: any number of jobs that are watched together."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from postmill.domain.job import NewJob
from postmill.domain.workflow import Workflow


class Batch(Workflow):
    """Jobs that run side by side, with their progress counted and callbacks at the end.

    Args and errors as those of `Workflow`. Its jobs are given to `start_batch` or, chunk by chunk, to `add_to_batch`.
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
        super().__init__(
            name, key=key, tenant=tenant, project=project, fail_fast=fail_fast, on_success=on_success,
            on_finish=on_finish, **envelope,
        )  # fmt: skip

    def add(self, name: str, job: NewJob, **options: Any) -> str:
        """A batch has no named steps: give its jobs to `start_batch`."""
        raise TypeError("a batch has no named steps: give its jobs to start_batch or add_to_batch")
