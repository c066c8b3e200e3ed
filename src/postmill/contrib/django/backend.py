"""A backend for `django.tasks`: tasks are jobs in the project's own database, enqueued in its own transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core import checks
from django.utils import timezone
from django.utils.module_loading import import_string

from postmill import bind, client
from postmill.client import flows
from postmill.contrib.django import results
from postmill.contrib.django.collecting import tasks_by_job_type
from postmill.contrib.django.conf import config
from postmill.contrib.django.database import connection
from postmill.contrib.django.task import OPTIONS, PostmillTask, declared, job_type_name, options_of
from postmill.contrib.django.task_types import AnyJobType, job_type_of
from postmill.contrib.django.tasks_api import (
    BaseTaskBackend,
    InvalidTask,
    InvalidTaskBackend,
    Task,
    TaskResultDoesNotExist,
    normalize_json,
    task_enqueued,
)
from postmill.domain.errors import DefinitionError, NotFound
from postmill.domain.job import JobView
from postmill.domain.job_type_options import check_name, check_options
from postmill.domain.suggest import did_you_mean
from postmill.store.flow import Flow
from postmill.store.job_rows import AttemptView
from postmill.store.jobs import job_attempts


class PostmillBackend(BaseTaskBackend):
    """The backend for `django.tasks`: `TASKS = {"default": {"BACKEND": "postmill.contrib.django.PostmillBackend"}}`.

    A task is a job type that is called as its function is (`shop.tasks.send_mail`). OPTIONS are options of job types
    (`max_attempts`, `retry`, `timeout` …) for all tasks of the backend; `@task(max_attempts=1)` is for one. The
    database and the schema are those of the setting POSTMILL.

    Raises InvalidTaskBackend: an option cannot be.
    """

    task_class = PostmillTask
    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def __init__(self, alias: str, params: dict[str, Any]) -> None:
        super().__init__(alias, params)
        for name in self.options:
            if name not in OPTIONS:
                hint = did_you_mean(name, OPTIONS, noun="options")
                raise InvalidTaskBackend(f"TASKS[{alias!r}], OPTIONS: unknown option {name!r}{hint}")
        try:
            check_options(f"TASKS[{alias!r}]", self.options, None)
        except DefinitionError as fault:
            raise InvalidTaskBackend(str(fault)) from None

    def validate_task(self, task: Any) -> None:
        """Raises InvalidTask: Django or Postmill cannot take this task, its options or its name."""
        super().validate_task(task)
        try:
            name = check_name(job_type_name(task, task.queue_name))
            check_options(name, {"queue": task.queue_name, **options_of(task)}, None)
        except DefinitionError as fault:
            raise InvalidTask(str(fault)) from None

    def job_types(self, task: Any) -> list[AnyJobType]:
        """The job types that a declared task is: one for each queue of the backend, the task's own first."""
        others = sorted(self.queues - {task.queue_name})
        return [job_type_of(task, queue, self.options) for queue in (task.queue_name, *others)]

    def enqueue(self, task: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Enqueues a task on Django's connection: it is there when, and only when, the open transaction commits.

        Raises what `postmill.enqueue` does; TypeError for arguments that JSON does not have.
        """
        self.validate_task(task)
        origin = declared(task)
        given: dict[str, Any] = {"priority": results.MIDDLE - task.priority}
        if task.run_after is not None:
            moment = task.run_after
            given["scheduled_for"] = moment if timezone.is_aware(moment) else timezone.make_aware(moment)
        job_type = job_type_of(origin, task.queue_name, self.options)
        payload = {"args": normalize_json(list(args)), "kwargs": normalize_json(dict(kwargs))}
        answer = client.enqueue(connection(), job_type.using(**given).new(**payload), schema=config().schema)
        result = results.enqueued(task, answer.id, args, kwargs)
        task_enqueued.send(sender=type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> Any:
        """A task's result as the database has it now. Raises TaskResultDoesNotExist."""
        try:
            job, attempts = bind.drive(connection(), _read(config().schema, result_id))
        except NotFound as fault:
            raise TaskResultDoesNotExist(result_id) from fault
        task = _task(job.job_type)
        if task is None or task.backend != self.alias:
            raise TaskResultDoesNotExist(result_id)
        return results.read(task, job, attempts)

    def check(self, **_: Any) -> list[checks.CheckMessage]:
        """What `manage.py check` says of the backend."""
        if not self.queues:
            hint = "Name every queue that tasks are enqueued on, so that workers serve them."
            return [checks.Error(f"TASKS[{self.alias!r}] has no QUEUES.", hint=hint, id="postmill.E002")]
        return []


def _read(schema: str, id: str) -> Flow[tuple[JobView, list[AttemptView]]]:
    job = yield from flows.get(schema, id)
    attempts: list[AttemptView] = yield job_attempts(job.id, schema=schema)
    return job, attempts


def _task(job_type: str) -> Any:
    """The task of a job type: one of the modules that workers serve, or one whose module is elsewhere."""
    found = tasks_by_job_type().get(job_type)
    if found is None:
        try:
            found = import_string(job_type.partition(":")[0])
        except ImportError:
            return None
    return found if isinstance(found, Task) else None
