"""Finds the job types and tasks of a Django project."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any

from django.apps import apps
from django.utils.module_loading import module_has_submodule

from postmill.contrib.django.conf import config
from postmill.domain.registry import Registry


def modules() -> list[ModuleType]:
    """The modules that POSTMILL's MODULES mean, imported; raises what their import raises."""
    found: dict[str, ModuleType] = {}
    for name in config().modules:
        if "." in name:
            found[name] = importlib.import_module(name)
            continue
        for app in apps.get_app_configs():
            if module_has_submodule(app.module, name):
                path = f"{app.name}.{name}"
                found[path] = importlib.import_module(path)
    return list(found.values())


def collect() -> Registry:
    """The job types, resources and triggers of the project, its tasks among them.

    Raises DefinitionError: two have one name, or a task has an option that cannot be.
    """
    found = modules()
    types = [job_type for task in tasks(found) for job_type in task.get_backend().job_types(task)]
    return Registry.collect(*found).joined(Registry(types))


def tasks(found: list[ModuleType] | None = None) -> list[Any]:
    """The tasks in these modules (default: the project's) that one of our backends takes, as their modules declare them."""
    try:
        from postmill.contrib.django.backend import PostmillBackend
        from postmill.contrib.django.tasks_api import Task
    except ImportError:  # Django 5 without the backport
        return []
    made: dict[str, Any] = {}
    for module in _walked(modules() if found is None else found):
        for value in vars(module).values():
            if isinstance(value, Task) and isinstance(value.get_backend(), PostmillBackend):
                made.setdefault(value.module_path, value)
    return list(made.values())


@lru_cache(maxsize=1)
def tasks_by_job_type() -> dict[str, Any]:
    """The project's tasks by the names of their job types, looked for once."""
    return {
        name: task
        for task in tasks()
        for job_type in task.get_backend().job_types(task)
        for name in (job_type.name, *job_type.aliases)
    }


def _walked(found: list[ModuleType]) -> Iterator[ModuleType]:
    for module in found:
        yield module
        for info in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
            yield importlib.import_module(info.name)
