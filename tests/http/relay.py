"""What stands between a client and a server, and cuts connections once the server has answered."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Self


class Relay:
    """Listens on a port and forwards to another one. Of so many connections the answer is thrown away, and they are cut."""

    def __init__(self, port: int, *, cuts: int) -> None:
        self._to = port
        self.cuts = cuts
        self._pipes: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for pipe in self._pipes:
            pipe.cancel()
        await asyncio.gather(*self._pipes, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._pipes.add(asyncio.create_task(self._accept(reader, writer)))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._to)
        there = asyncio.create_task(self._copy(reader, inner_writer))
        try:
            # The first byte of the answer comes after the commit.
            while data := await inner_reader.read(65536):
                if self.cuts > 0:
                    self.cuts -= 1
                    writer.transport.abort()
                    return
                writer.write(data)
                await writer.drain()
        finally:
            there.cancel()
            await asyncio.gather(there, return_exceptions=True)
            for side in (writer, inner_writer):
                side.close()
                with contextlib.suppress(OSError):
                    await side.wait_closed()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
