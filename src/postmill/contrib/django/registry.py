"""The project's job types and tasks, as `postmill worker postmill.contrib.django.registry` serves them.

Importing it sets Django up (DJANGO_SETTINGS_MODULE says how), so that processes of workers, and of single jobs, can.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import django
from asgiref.sync import sync_to_async
from django.apps import apps
from django.db import close_old_connections

from postmill.contrib.surrounding import surrounded

if not apps.ready:
    django.setup()

from postmill.contrib.django.collecting import collect


@contextmanager
def fresh_connections() -> Iterator[None]:
    """As around a request: connections that are broken, or older than CONN_MAX_AGE, are not used any more."""
    close_old_connections()
    try:
        yield
    finally:
        close_old_connections()


@asynccontextmanager
async def fresh_connections_async() -> AsyncIterator[None]:
    """The same in the thread where Django's async queries run."""
    await sync_to_async(close_old_connections)()
    try:
        yield
    finally:
        await sync_to_async(close_old_connections)()


registry = surrounded(collect(), fresh_connections, fresh_connections_async)
