"""A TCP relay between a worker and its database, with switches: hold, reset, swallow."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Self

Chooser = Callable[[bytes], bool]


class Proxy:
    """Listens on a free port of `host` and forwards to a unix socket.

    hold: keep both sides open and forward nothing. reset: cut both sides with RST. `chosen` limits a hold or a
    cut to connections whose first bytes satisfy it (the application_name stands there).
    """

    def __init__(self, target: Path, host: str = "127.0.0.1") -> None:
        self._target = target
        self._host = host
        self._server: asyncio.Server | None = None
        self._pipes: set[_Pipe] = set()
        self.port = 0
        self.on_query: Callable[[_Pipe, bytes], None] = lambda pipe, data: None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, self._host, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *raised: object) -> None:
        assert self._server is not None
        self._server.close()
        self.reset()
        while self._pipes:
            await asyncio.sleep(0.005)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner = await asyncio.open_unix_connection(str(self._target))
        except OSError:
            writer.close()
            return
        pipe = _Pipe(self, reader, writer, *inner)
        self._pipes.add(pipe)
        try:
            await pipe.run()
        finally:
            self._pipes.discard(pipe)

    def hold(self, role: str | None = None) -> None:
        """Stop forwarding on the connections of this role (a part of the application_name); None: on all."""
        for pipe in self._of(role):
            pipe.flowing.clear()

    def flow(self) -> None:
        for pipe in self._pipes:
            pipe.flowing.set()

    def reset(self, role: str | None = None) -> int:
        """Cut these connections with RST."""
        cut = self._of(role)
        for pipe in cut:
            pipe.reset()
        return len(cut)

    def count(self, role: str) -> int:
        return len(self._of(role))

    def _of(self, role: str | None) -> list[_Pipe]:
        return [pipe for pipe in self._pipes if role is None or role.encode() in pipe.hello]


class _Pipe:
    def __init__(
        self,
        proxy: Proxy,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        inner_reader: asyncio.StreamReader,
        inner_writer: asyncio.StreamWriter,
    ) -> None:
        self._proxy = proxy
        self._sides = (reader, writer, inner_reader, inner_writer)
        self.hello = b""
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.deaf = False  # swallow what the server answers

    async def run(self) -> None:
        reader, writer, inner_reader, inner_writer = self._sides
        ways = [
            asyncio.create_task(self._forward(reader, inner_writer, True)),
            asyncio.create_task(self._forward(inner_reader, writer, False)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for side in (writer, inner_writer):
                side.close()
                with contextlib.suppress(OSError):
                    await side.wait_closed()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, out: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if out and len(self.hello) < 2048:
                    self.hello += data
                if out:
                    self._proxy.on_query(self, data)
                await self.flowing.wait()
                if out or not self.deaf:
                    writer.write(data)
                    await writer.drain()

    def reset(self) -> None:
        self.flowing.set()
        for writer in (self._sides[1], self._sides[3]):
            sock = writer.get_extra_info("socket")
            if sock is not None and sock.family == socket.AF_INET:
                with contextlib.suppress(OSError):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
