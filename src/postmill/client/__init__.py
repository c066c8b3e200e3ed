"""The front door: enqueue and cancel on the application's own connection, or by a client with its own."""

from postmill.client.asynchronous import AsyncClient
from postmill.client.canceling import acancel, cancel
from postmill.client.cells import AsyncCells, Cells
from postmill.client.producing import aenqueue, aenqueue_many, apublish, enqueue, enqueue_many, publish
from postmill.client.sync import Client

__all__ = [
    "AsyncCells",
    "AsyncClient",
    "Cells",
    "Client",
    "acancel",
    "aenqueue",
    "aenqueue_many",
    "apublish",
    "cancel",
    "enqueue",
    "enqueue_many",
    "publish",
]
