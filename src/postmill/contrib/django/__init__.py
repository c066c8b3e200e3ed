"""Postmill in a Django project: put `"postmill.contrib.django"` into INSTALLED_APPS.

`enqueue` and its siblings run on Django's own connection, so inside `atomic()` and ATOMIC_REQUESTS. `PostmillBackend` is a
backend for `django.tasks`. The rest comes with the app: `manage.py migrate` brings Postmill's schema up to date,
`manage.py postmill_worker` runs jobs, and the admin links to the console.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postmill.contrib.django.backend import PostmillBackend
    from postmill.contrib.django.console import console_url, job_link
    from postmill.contrib.django.producing import (
        aenqueue,
        cancel,
        enqueue,
        enqueue_many,
        enqueue_on_commit,
        publish,
    )

__all__ = [
    "PostmillBackend",
    "aenqueue",
    "cancel",
    "console_url",
    "enqueue",
    "enqueue_many",
    "enqueue_on_commit",
    "job_link",
    "publish",
]

_HOMES = {"PostmillBackend": "backend", "console_url": "console", "job_link": "console"}


def __getattr__(name: str) -> Any:
    # Settings are read before there are apps, and name the backend: nothing is imported until it is asked for.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'producing')}"), name)
