"""A small HTTP endpoint for scrapes and probes, in its own thread: it answers while the loop is blocked."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from postmill.telemetry.http_message import MAX_REQUEST, BadRequest, Response, parse_request
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
        self._open: dict[asyncio.Task[None], socket.socket] = {}
        self._running: tuple[threading.Thread, asyncio.AbstractEventLoop, asyncio.Event] | None = None

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
        """Listen. Raises OSError if the port cannot be bound, RuntimeError if it is started already."""
        if self._running is not None:
            raise RuntimeError("the metrics server is already started")
        family, *_, address = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family, backlog=128)
        listener.setblocking(False)
        self._port = listener.getsockname()[1]
        # A selector loop whatever the process's policy is: these few connections want nothing more.
        loop, stop = asyncio.SelectorEventLoop(), asyncio.Event()
        thread = threading.Thread(
            target=self._main, args=(listener, loop, stop), name="postmill-metrics", daemon=True
        )
        self._running = thread, loop, stop
        thread.start()

    def stop(self) -> None:
        """Close the port and all connections; returns once the thread has ended. Harmless if not started."""
        running, self._running = self._running, None
        if running is not None:
            thread, loop, stop = running
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                loop.call_soon_threadsafe(stop.set)
            thread.join()

    def __enter__(self) -> MetricsServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _main(self, listener: socket.socket, loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
        try:
            loop.run_until_complete(self._serve(listener, stop))
        except Exception:
            _log.exception("the metrics server ended")
        finally:
            loop.close()
            listener.close()

    async def _serve(self, listener: socket.socket, stop: asyncio.Event) -> None:
        accepting = asyncio.create_task(self._accept(listener))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait([accepting, stopping], return_when=asyncio.FIRST_COMPLETED)
        ending = [accepting, stopping, *self._open]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, _ = await loop.sock_accept(listener)
            except OSError:  # no file descriptors left, or a client that left at once
                await asyncio.sleep(0.1)
                continue
            if len(self._open) >= MAX_CONNECTIONS:
                next(iter(self._open)).cancel()
            task = asyncio.create_task(self._talk(client))
            self._open[task] = client
            task.add_done_callback(self._close)

    def _close(self, task: asyncio.Task[None]) -> None:
        # Here and not in the task, for one that is canceled before its first step runs none of its code.
        self._open.pop(task).close()
        fault = None if task.cancelled() else task.exception()
        if fault is not None and not isinstance(fault, OSError):  # else it went away or was too slow
            _log.error("a scrape failed", exc_info=fault)

    async def _talk(self, client: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        client.setblocking(False)
        try:
            async with asyncio.timeout(self._read_timeout):
                method, path = await _request(client)
            response = self._answer(method, path)
        except BadRequest as fault:
            method, response = "GET", Response(fault.status, f"{fault}\n".encode())
        async with asyncio.timeout(self._write_timeout):
            await loop.sock_sendall(client, response.encode(head=method == "HEAD"))
            client.shutdown(socket.SHUT_WR)
            # Up to the client's own end: a reset for what is still unread could overtake the answer.
            for _ in range(16):
                if not await loop.sock_recv(client, MAX_REQUEST):
                    break

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


async def _request(client: socket.socket) -> tuple[str, str]:
    loop, data = asyncio.get_running_loop(), b""
    while True:
        part = await loop.sock_recv(client, MAX_REQUEST)
        if not part:
            raise ConnectionAbortedError
        data += part
        request = parse_request(data)
        if request is not None:
            return request
