"""A small HTTP endpoint for scrapes and probes, in its own thread: it answers while the loop is blocked."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import orjson

from postmill.telemetry.http_message import BadRequest, Response, read_request
from postmill.telemetry.metrics import CONTENT_TYPE

MAX_CONNECTIONS = 64
READ_TIMEOUT = 5.0
WRITE_TIMEOUT = 10.0

Health = Callable[[], tuple[bool, Mapping[str, Any]]]

_log = logging.getLogger("postmill.telemetry")


class MetricsServer:
    """Serves `/metrics`, `/healthz` (the process answers) and `/readyz` (it is fit to work; else status 503).

    `render` makes the page of metrics; `health` tells whether the process is ready, and details for both
    probes, which must hold no secrets. Both are called in the server's own thread. Without `health` it is
    always ready. Port 0 chooses a free one. A client has 5 s for its request and 10 s to take the answer; 64
    are served at a time, and one more ends the oldest.
    """

    def __init__(
        self,
        render: Callable[[], bytes],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        health: Health | None = None,
        read_timeout: float = READ_TIMEOUT,
        write_timeout: float = WRITE_TIMEOUT,
    ) -> None:
        self._render = render
        self._health = health or (lambda: (True, {}))
        self._host = host
        self._port = port
        self._read_timeout = read_timeout
        self._write_timeout = write_timeout
        self._open: dict[asyncio.Task[None], None] = {}
        self._thread: threading.Thread | None = None
        self._stop: Callable[[], object] | None = None

    @property
    def port(self) -> int:
        """The port that it listens on (the chosen one, once started)."""
        return self._port

    @property
    def url(self) -> str:
        """Where it is found, without a path."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    def start(self) -> None:
        """Listen; returns once the port is bound.

        Raises OSError if it cannot be, RuntimeError if it is started already.
        """
        if self._thread is not None:
            raise RuntimeError("the metrics server is already started")
        bound: Future[int] = Future()
        thread = threading.Thread(target=self._main, args=(bound,), name="postmill-metrics", daemon=True)
        thread.start()
        self._port = bound.result()
        self._thread = thread

    def stop(self) -> None:
        """Close the port and all connections; returns once the thread has ended. Harmless if not started."""
        thread, self._thread = self._thread, None
        if thread is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # its loop has ended by itself
                self._stop()
            thread.join()

    def __enter__(self) -> MetricsServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _main(self, bound: Future[int]) -> None:
        try:
            asyncio.run(self._serve(bound))
        except BaseException as fault:
            if bound.done():
                _log.exception("the metrics server ended")
            else:
                bound.set_exception(fault)

    async def _serve(self, bound: Future[int]) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        self._stop = lambda: loop.call_soon_threadsafe(stop.set)
        server = await asyncio.start_server(self._accept, self._host, self._port, limit=16 * 1024)
        bound.set_result(server.sockets[0].getsockname()[1])
        try:
            await stop.wait()
        finally:
            server.close()
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._open) >= MAX_CONNECTIONS:
            next(iter(self._open)).cancel()
        self._open[task] = None
        try:
            await self._talk(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # the client went away or was too slow: nothing to tell it
        finally:
            del self._open[task]
            # A client that takes no answer must not hold the connection: what is still buffered is dropped.
            if writer.transport.get_write_buffer_size():
                writer.transport.abort()
            else:
                writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(self._read_timeout):
                method, path = await read_request(reader)
            response = self._answer(method, path)
        except BadRequest as fault:
            method, response = "GET", Response(fault.status, f"{fault}\n".encode())
        async with asyncio.timeout(self._write_timeout):
            writer.write(response.encode(head=method == "HEAD"))
            await writer.drain()
            writer.write_eof()
            await reader.read(1024)  # the client's own end, so that no reset overtakes the answer

    def _answer(self, method: str, path: str) -> Response:
        if path not in ("/metrics", "/healthz", "/readyz"):
            return Response(404, b"there is /metrics, /healthz and /readyz\n")
        if method not in ("GET", "HEAD"):
            return Response(405, b"GET or HEAD\n", extra=("Allow: GET, HEAD",))
        try:
            if path == "/metrics":
                return Response(200, self._render(), CONTENT_TYPE)
            ready, details = self._health()
            body = orjson.dumps({**details, "ready": ready}, default=str) + b"\n"
        except Exception:
            _log.exception("answering %s failed", path)
            return Response(500, b"this page cannot be made; the log says why\n")
        return Response(503 if path == "/readyz" and not ready else 200, body, "application/json")
