"""An application on a socket of this machine, served as `postmill server` serves it, in this process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from postmill.cli.serving import Server
from postmill.console import create_app
from postmill.domain.settings import Settings


@asynccontextmanager
async def served(dsn: str, **settings: Any) -> AsyncIterator[str]:
    """The server's URL; it is drained at the end."""
    made = Settings.model_validate({"database_url": dsn, **settings})
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(create_app(made), made)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.drain()
            await task
