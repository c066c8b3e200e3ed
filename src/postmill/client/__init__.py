"""The front door: enqueue and cancel on the application's own connection, or by a client with its own.

Each name is imported at its first use: most programs need one or two of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postmill.client.asynchronous import AsyncClient
    from postmill.client.canceling import acancel, cancel
    from postmill.client.cells import AsyncCells, Cells
    from postmill.client.producing import aenqueue, aenqueue_many, apublish, enqueue, enqueue_many, publish
    from postmill.client.sync import Client
    from postmill.client.workflow_producing import (
        aadd_to_batch,
        acancel_workflow,
        add_to_batch,
        astart_batch,
        astart_workflow,
        cancel_workflow,
        start_batch,
        start_workflow,
    )

__all__ = [
    "AsyncCells",
    "AsyncClient",
    "Cells",
    "Client",
    "aadd_to_batch",
    "acancel",
    "acancel_workflow",
    "add_to_batch",
    "aenqueue",
    "aenqueue_many",
    "apublish",
    "astart_batch",
    "astart_workflow",
    "cancel",
    "cancel_workflow",
    "enqueue",
    "enqueue_many",
    "publish",
    "start_batch",
    "start_workflow",
]

_HOMES = {
    "asynchronous": "AsyncClient",
    "canceling": "acancel cancel",
    "cells": "AsyncCells Cells",
    "producing": "aenqueue aenqueue_many apublish enqueue enqueue_many publish",
    "sync": "Client",
    "workflow_producing": (
        "aadd_to_batch acancel_workflow add_to_batch astart_batch astart_workflow "
        "cancel_workflow start_batch start_workflow"
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
    found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found
