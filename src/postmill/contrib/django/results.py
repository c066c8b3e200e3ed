"""Jobs as results of `django.tasks`."""

from __future__ import annotations

import builtins
import os
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from traceback import format_exception
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from postmill.contrib.django.tasks_api import TaskError, TaskResult, TaskResultStatus
from postmill.domain.error_names import error_class_of
from postmill.domain.job import JobView
from postmill.domain.lifecycle import State
from postmill.engine.context import JobInfo
from postmill.store.job_rows import AttemptView

STATUSES = {
    State.BLOCKED: TaskResultStatus.READY,
    State.SCHEDULED: TaskResultStatus.READY,
    State.QUEUED: TaskResultStatus.READY,
    State.RUNNING: TaskResultStatus.RUNNING,
    State.SUCCEEDED: TaskResultStatus.SUCCESSFUL,
    State.FAILED: TaskResultStatus.FAILED,
    State.CANCELED: TaskResultStatus.FAILED,
    State.DEAD_LETTER: TaskResultStatus.FAILED,
}
"""A job that waits for its next attempt is READY again, one that was canceled FAILED."""

MIDDLE = 100
"""Postmill's priority of Django's 0. There the lower number is the more urgent, in Django the higher."""


def enqueued(task: Any, id: UUID, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a job that was just enqueued. When that was is in its id, to the millisecond."""
    moment = datetime.fromtimestamp((id.int >> 80) / 1000, UTC)
    return _result(task, id, TaskResultStatus.READY, args, kwargs, enqueued_at=_moment(moment))


def running(task: Any, job: JobInfo, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a job that is being run by this process; its attempts before are only counted."""
    now = timezone.now()
    worker = f"{socket.gethostname()}:{os.getpid()}"
    return _result(
        task, job.id, TaskResultStatus.RUNNING, args, kwargs,
        enqueued_at=_moment(job.created_at), started_at=now, last_attempted_at=now,
        worker_ids=[worker] * job.attempt,
    )  # fmt: skip


def ended(result: Any, value: Any, error: BaseException | None) -> None:
    """Writes into the result of a running job what its handler came to."""
    if error is None:
        made: dict[str, Any] = {"status": TaskResultStatus.SUCCESSFUL, "_return_value": value}
    else:
        made = {"status": TaskResultStatus.FAILED}
        result.errors.append(TaskError(
            exception_class_path=_path(error_class_of(error)), traceback="".join(format_exception(error)),
        ))  # fmt: skip
    for name, one in {**made, "finished_at": timezone.now()}.items():
        object.__setattr__(result, name, one)


def read(task: Any, job: JobView, attempts: Sequence[AttemptView]) -> Any:
    """The result of a job as the database has it."""
    payload = job.payload if isinstance(job.payload, dict) else {}
    made = _result(
        _as_enqueued(task, job),
        job.id,
        STATUSES[job.status],
        payload.get("args", []),
        payload.get("kwargs", {}),
        enqueued_at=_moment(job.created_at),
        started_at=_moment(attempts[0].started_at) if attempts else None,
        last_attempted_at=_moment(attempts[-1].started_at) if attempts else None,
        finished_at=_moment(job.finished_at) if job.finished else None,
        worker_ids=[one.worker_id for one in attempts],
        errors=[
            TaskError(
                exception_class_path=_path(one.error_class), traceback=one.stack or one.error_message or ""
            )
            for one in attempts
            if one.error_class
        ],
    )
    object.__setattr__(made, "_return_value", job.result)
    return made


def _as_enqueued(task: Any, job: JobView) -> Any:
    """The task with queue, priority and time of the job, where Django's words have them."""
    queues = task.get_backend().queues
    return task.using(
        queue_name=job.queue if not queues or job.queue in queues else None,
        priority=max(-100, min(100, MIDDLE - job.priority)),
        run_after=_moment(job.scheduled_for),
    )


def _result(
    task: Any, id: UUID, status: Any, args: Sequence[Any], kwargs: dict[str, Any], **rest: Any
) -> TaskResult:
    moments = {"enqueued_at": None, "started_at": None, "finished_at": None, "last_attempted_at": None}
    made = {**moments, "errors": [], "worker_ids": [], **rest}
    return TaskResult(
        task=task, id=str(id), status=status, args=list(args), kwargs=kwargs, backend=task.backend, **made
    )


def _moment(given: datetime | None) -> datetime | None:
    """As Django wants it: without a time zone where the project has none."""
    return given if given is None or settings.USE_TZ else timezone.make_naive(given)


def _path(error_class: str) -> str:
    """The path by which the class can be imported; built-in ones are stored without their module."""
    return f"builtins.{error_class}" if hasattr(builtins, error_class) else error_class
