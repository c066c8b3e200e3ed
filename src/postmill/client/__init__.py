"""The front door: enqueue on the application's own connection, or by a client with connections of its own."""

from postmill.client.asynchronous import AsyncClient
from postmill.client.producing import aenqueue, aenqueue_many, enqueue, enqueue_many
from postmill.client.refusals import SomeRefused
from postmill.client.sync import Client

__all__ = ["AsyncClient", "Client", "SomeRefused", "aenqueue", "aenqueue_many", "enqueue", "enqueue_many"]
