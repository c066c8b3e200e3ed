"""A stand-in for the time of a test, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from examples.upstreams.rest import RestServer

Server = TypeVar("Server", bound=RestServer)


@contextmanager
def standing(server: Server) -> Iterator[Server]:
    """The server serves, and is closed at the end."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="upstream")
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
