"""An HTTP service that takes messages, at most so many a second, and has its bad days by a plan."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from examples.upstreams.script import Answer

Judge = Callable[[str, Any], tuple[int, object]]
"""What the service says to a message: path and JSON in, status and JSON (or text) out."""

GOOD = Answer()


@dataclass(frozen=True, slots=True)
class Taken:
    """One call: when it came (by time.monotonic), what was answered, and whether the service has it now."""

    at: float
    path: str
    body: Any
    raw: bytes
    headers: Mapping[str, str]
    status: int
    delivered: bool


@dataclass
class Mood:
    """How the service is today; may be changed while it runs.

    Attributes:
        each: the answer to every message; a status from 400 on is a refusal.
        next: answers to the next messages, before that.
        per_second: messages that it takes in a second; more are answered 429 with Retry-After. None: any number.
        keeps: it takes a message for good even where it then answers with an error: it accepts, then fails.
    """

    each: Answer = GOOD
    next: list[Answer] = field(default_factory=list)
    per_second: float | None = None
    keeps: bool = False


class AlertService(ThreadingHTTPServer):
    """Serves POST on 127.0.0.1. `judge` looks at each message that the mood lets through."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, judge: Judge, mood: Mood | None = None, *, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.judge = judge
        self.mood = mood or Mood()
        self.calls: list[Taken] = []
        self._lock = threading.Lock()
        self._last = 0.0

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def delivered(self) -> list[Taken]:
        """What the service has, in order."""
        with self._lock:
            return [call for call in self.calls if call.delivered]

    def plan(self) -> Answer:
        """The mood's answer to the next message."""
        with self._lock:
            if self.mood.per_second is not None:
                now = time.monotonic()
                # Clocks of two processes: what comes a little early is let through.
                if now - self._last < 0.95 / self.mood.per_second:
                    return Answer(status=429, retry_after=str(max(1, round(1 / self.mood.per_second))))
                self._last = now
            return self.mood.next.pop(0) if self.mood.next else self.mood.each

    def note(self, call: Taken) -> None:
        """Remember a call."""
        with self._lock:
            self.calls.append(call)

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that has hung up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: AlertService

    def do_POST(self) -> None:
        """One message."""
        at = time.monotonic()
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body: Any = json.loads(raw)
        except ValueError:
            body = None
        answer = self.server.plan()
        time.sleep(answer.delay)
        status, said = self.server.judge(self.path, body)
        kept = status < 300 and (answer.status < 300 or (self.server.mood.keeps and answer.status != 429))
        if answer.status >= 300:
            status, said = answer.status, "scripted"
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.note(Taken(at, self.path, body, raw, headers, status, kept))
        if answer.body == "none":
            self.close_connection = True
            return
        self._send(status, said, answer)

    def _send(self, status: int, said: object, answer: Answer) -> None:
        content = said.encode() if isinstance(said, str) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if answer.retry_after is not None:
            self.send_header("Retry-After", answer.retry_after)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: `calls` tells more."""


def serve(*services: AlertService) -> Callable[[], None]:
    """Starts services, each in a thread of its own; what is returned stops them."""
    threads = [threading.Thread(target=service.serve_forever, args=(0.02,)) for service in services]
    for thread in threads:
        thread.start()

    def stop() -> None:
        for service, thread in zip(services, threads, strict=True):
            service.shutdown()
            thread.join()
            service.server_close()

    return stop


def texts(calls: Sequence[Taken]) -> list[str]:
    """The texts of Slack messages."""
    return [call.body["text"] for call in calls]
