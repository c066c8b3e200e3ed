"""A small HTTP server that plays a script: latency, 429 with Retry-After, 5xx, garbage, no answer at all."""

from __future__ import annotations

import hashlib
import json
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from examples.upstreams.script import Answer, Script

Respond = Callable[[bytes], tuple[int, object]]
"""The real work: the request's body in, status and JSON data out."""


class ScriptedServer(ThreadingHTTPServer):
    """Serves POST `path` on 127.0.0.1; requests with equal bodies are calls of the same request.

    Args:
        respond: what is done where the script does not say otherwise.
        key: the bearer token that callers must send; None asks for none.
        port: 0 takes any free port.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, path: str, respond: Respond, script: Script, *, key: str | None = None, port: int = 0
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.path = path
        self.respond = respond
        self.script = script
        self.key = key
        self._lock = threading.Lock()
        self._numbers: dict[bytes, int] = {}
        self._calls: Counter[bytes] = Counter()
        self._statuses: Counter[str] = Counter()

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def plan(self, body: bytes) -> tuple[Answer, float]:
        """The script's answer to this call, and its latency in seconds."""
        mark = hashlib.sha256(body).digest()
        with self._lock:
            number = self._numbers.setdefault(mark, len(self._numbers) + 1)
            self._calls[mark] += 1
            call = self._calls[mark]
        latency = random.Random(f"{number}/{call}").uniform(*self.script.latency)
        return self.script.answer(number, call), latency

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that has hung up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def count(self, what: str) -> None:
        """Note one answer."""
        with self._lock:
            self._statuses[what] += 1

    def statistics(self) -> dict[str, object]:
        """Different requests, and answers by status (or by what was done instead of one)."""
        with self._lock:
            return {"requests": len(self._numbers), "answers": dict(self._statuses)}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ScriptedServer

    def do_GET(self) -> None:
        """`/health` and `/statistics`, for whoever runs the server."""
        if self.path == "/health":
            self._send(200, {"status": "ok"})
        elif self.path == "/statistics":
            self._send(200, self.server.statistics())
        else:
            self._send(404, {"error": "not_found"})

    def do_POST(self) -> None:
        """One call of the service."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != self.server.path:
            self._send(404, {"error": "not_found"})
        elif self.server.key is not None and self.headers.get("Authorization") != f"Bearer {self.server.key}":
            self._send(401, {"error": "unauthorized"})
        else:
            self._play(body)

    def _play(self, body: bytes) -> None:
        answer, latency = self.server.plan(body)
        time.sleep(latency + answer.delay)
        if answer.body == "none":
            self.server.count("none")
            self.close_connection = True
        elif answer.status != 200:
            self.server.count(str(answer.status))
            self._send(answer.status, {"error": "scripted"}, answer)
        else:
            status, data = self.server.respond(body)
            self.server.count(str(status) if answer.body == "good" else answer.body)
            self._send(status, data, answer)

    def _send(self, status: int, data: object, answer: Answer | None = None) -> None:
        content = json.dumps(data, ensure_ascii=False).encode()
        kind = answer.body if answer is not None else "good"
        sent = {"garbage": b"<html>It works!</html>", "cut": content[: len(content) // 2]}.get(kind, content)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content) if kind == "cut" else len(sent)))
        if answer is not None and answer.retry_after is not None:
            self.send_header("Retry-After", answer.retry_after)
        self.end_headers()
        self.wfile.write(sent)
        self.close_connection = kind == "cut"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the caller's own logs tell more."""
