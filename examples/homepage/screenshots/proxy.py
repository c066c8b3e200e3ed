"""The only way out of a browser: a forward proxy on this machine that leads to permitted addresses, and bounds the bytes.

Whatever a page does (redirects, frames, scripts, workers, WebSockets, names that change their address), it comes by here: each
connection looks its name up once, and goes to just that address.
"""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType

from examples.homepage.outbound.addresses import Addresses, AddressRefused
from examples.homepage.screenshots import heads

_CHUNK = 64 * 1024
_CONNECT_SECONDS = 15.0
_END_SECONDS = 1.0


class ForwardProxy:
    """Serves on 127.0.0.1 while it is entered; leaving it ends every connection.

    Attributes:
        port: where it listens.
        faults: what became of hosts that could not be reached: AddressRefused, or another OSError.
        passed: bytes so far, both ways.
    """

    def __init__(self, addresses: Addresses, most_bytes: int) -> None:
        self._addresses = addresses
        self._most = most_bytes
        self._tasks: set[asyncio.Task[None]] = set()
        self.faults: dict[str, Exception] = {}
        self.passed = 0
        self.port = 0

    @property
    def exceeded(self) -> bool:
        """Whether the page wanted more bytes than it may have."""
        return self.passed > self._most

    async def __aenter__(self) -> ForwardProxy:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=heads.MOST)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the browser: one request, or one tunnel. What cannot be served is cut off without a word."""
        try:
            with contextlib.suppress(
                OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, heads.BadHead
            ):
                request = heads.request(await reader.readuntil(b"\r\n\r\n"))
                far_reader, far_writer = await self._connect(request.host, request.port)
                try:
                    await self._pass_on(request, reader, writer, far_reader, far_writer)
                finally:
                    await _end(far_writer)
        finally:
            await _end(writer)

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                address = await self._addresses.of(host, port)
                return await asyncio.open_connection(address, port, limit=heads.MOST)
        except AddressRefused as refused:
            self.faults[host] = refused
            raise ConnectionRefusedError from refused
        except (OSError, UnicodeError) as fault:  # TimeoutError is an OSError
            self.faults.setdefault(host, fault)
            raise ConnectionRefusedError from fault

    async def _pass_on(
        self,
        request: heads.Request,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        if request.tunnel:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            up = asyncio.create_task(self._pump(reader, far_writer))
            try:
                await self._pump(far_reader, writer)
            finally:
                up.cancel()
                await asyncio.gather(up, return_exceptions=True)
            return
        far_writer.write(request.head)
        await self._pump(reader, far_writer, request.body)
        while heads.interim(head := await far_reader.readuntil(b"\r\n\r\n")):
            pass
        writer.write(heads.answer(head))
        await self._pump(far_reader, writer)

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, most: int | None = None
    ) -> None:
        """Up to the end, or so many bytes, or the end of what the page may have."""
        while most is None or most > 0:
            chunk = await source.read(_CHUNK if most is None else min(_CHUNK, most))
            self.passed += len(chunk)
            if not chunk or self.exceeded:
                return
            most = None if most is None else most - len(chunk)
            sink.write(chunk)
            await sink.drain()


async def _end(writer: asyncio.StreamWriter) -> None:
    """Whoever does not take what is left for him is left."""
    writer.close()
    try:
        async with asyncio.timeout(_END_SECONDS):
            await writer.wait_closed()
    except TimeoutError:
        writer.transport.abort()
    except OSError:
        pass
