"""Tasks as job types: what a worker runs for them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.utils.module_loading import import_string

from postmill.contrib.django.results import ended, running
from postmill.contrib.django.task import in_queue, job_type_name, options_of
from postmill.contrib.django.tasks_api import (
    TaskContext,
    normalize_json,
    task_backends,
    task_finished,
    task_started,
)
from postmill.domain.job_type import JobType, job
from postmill.engine.context import Context

AnyJobType = JobType[..., ..., Any]


def job_type_of(task: Any, queue: str, defaults: Mapping[str, Any]) -> AnyJobType:
    """The job type of a declared task in a queue; `defaults` are options where the task names none.

    Raises DefinitionError: an option, or the name, cannot be.
    """
    options = {**defaults, **options_of(task)}
    return _made(task.module_path, queue, task.backend, _Options(options))


class _Options:
    """Options as part of a cache's key: some are lists."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self._key = repr(sorted(given.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Options) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=4096)
def _made(path: str, queue: str, backend: str, options: _Options) -> AnyJobType:
    task = import_string(path)

    def call(ctx: Context, args: list[Any], kwargs: dict[str, Any]) -> Any:
        with _Told(task, ctx, args, kwargs) as told:
            told.value = task.func(*told.given, **kwargs)
        return told.value

    async def acall(ctx: Context, args: list[Any], kwargs: dict[str, Any]) -> Any:
        with _Told(task, ctx, args, kwargs) as told:
            told.value = await task.func(*told.given, **kwargs)
        return told.value

    handler = acall if inspect.iscoroutinefunction(task.func) else call
    handler.__doc__ = task.func.__doc__
    for name in ("__module__", "__name__", "__qualname__"):
        setattr(handler, name, getattr(task.func, name))
    aliases = [in_queue(task, alias, queue) for alias in options.given.get("aliases", ())]
    given = {**options.given, "name": job_type_name(task, queue), "queue": queue, "aliases": aliases}
    made: AnyJobType = job(**given)(handler)
    return made


class _Told:
    """Tells Django's signals that a task starts and ends. An attempt that failed is told as FAILED, also if another follows."""

    def __init__(self, task: Any, ctx: Context, args: list[Any], kwargs: dict[str, Any]) -> None:
        self._sender = type(task_backends[task.backend])
        self._result = running(task, ctx.job, args, kwargs)
        self.given = [TaskContext(task_result=self._result), *args] if task.takes_context else args
        self.value: Any = None

    def __enter__(self) -> _Told:
        task_started.send(sender=self._sender, task_result=self._result)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is None:
            self.value = normalize_json(self.value)
        ended(self._result, self.value, error)
        task_finished.send(sender=self._sender, task_result=self._result)
