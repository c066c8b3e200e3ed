"""The front door: enqueue and cancel on the application's own connection, or by a client with its own."""

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
