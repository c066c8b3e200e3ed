"""Tasks with options of job types (`@task(max_attempts=1, timeout=60)`), and the job types that they are."""

from __future__ import annotations

import sys
from dataclasses import field, make_dataclass
from typing import Any, get_type_hints

from postmill.contrib.django.tasks_api import InvalidTask, Task
from postmill.domain.job_type_options import JobTypeOptions

OF_DJANGO = frozenset({"name", "queue", "priority"})
"""What Django has words of its own for: the function, `queue_name`, `priority`."""

OPTIONS = tuple(name for name in get_type_hints(JobTypeOptions) if name not in OF_DJANGO)

# An Ellipsis stands for "not said": None means something for some options, and a Task must bear pickling.
PostmillTask: Any = make_dataclass(
    "PostmillTask",
    [(name, Any, field(default=...)) for name in ("job_type", *OPTIONS)],
    bases=(Task,),
    namespace={"__module__": __name__, "__doc__": "A Task that may carry the options of its job type, and its name."},
    frozen=True,
    slots=True,
    kw_only=True,
)  # fmt: skip


def options_of(task: Any) -> dict[str, Any]:
    """The options of its job type that a task names itself."""
    return {name: value for name in OPTIONS if (value := getattr(task, name, ...)) is not ...}


def declared(task: Any) -> Any:
    """The task as its module holds it, before any `.using(…)`.

    Raises InvalidTask: its module does not hold it under the function's name, where a worker would look for it.
    """
    found: Any = sys.modules.get(task.func.__module__)
    for name in task.func.__qualname__.split("."):
        found = getattr(found, name, None)
    if not isinstance(found, Task) or found.func is not task.func:
        raise InvalidTask(f"{task.module_path} must be the task itself, so that a worker finds it: use @task")
    return found


def job_type_name(task: Any, queue: str) -> str:
    """The name of the job type that a declared task is in a queue: its own `job_type`, else the path of its function."""
    given = getattr(task, "job_type", ...)
    return in_queue(task, task.module_path if given is ... else given, queue)


def in_queue(task: Any, name: str, queue: str) -> str:
    """A name of a task, for jobs in a queue: a job type belongs to one queue, so others than the task's own follow the name
    (`shop.tasks.mail:low`)."""
    return name if queue == task.queue_name else f"{name}:{queue}"
