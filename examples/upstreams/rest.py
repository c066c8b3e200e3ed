"""A small HTTP server for JSON APIs: what it answers is a method of its own, and bad days come by `days`."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import TypeAdapter, ValidationError

from examples.upstreams.script import Answer

DAYS = TypeAdapter(dict[str, list[Answer]])


class Request(NamedTuple):
    """One request; names of headers in small letters, the body as text."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: str


class RestServer(ThreadingHTTPServer):
    """Serves on 127.0.0.1. `asked` counts requests by path; `requests` keeps them all.

    `days`: the answers that a path gives first, before good ones; `PUT /days` sets them from outside, as JSON.
    `Answer.retry_after` may hold several headers, one a line.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.days: defaultdict[str, list[Answer]] = defaultdict(list)
        self.asked: Counter[str] = Counter()
        self.requests: list[Request] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def respond(self, request: Request) -> tuple[int, Any]:
        """Status and JSON data of a good day. One request at a time."""
        raise NotImplementedError

    def note(self, request: Request) -> Answer:
        """How the day is for this request."""
        with self.lock:
            self.asked[request.path] += 1
            self.requests.append(request)
            answers = self.days[request.path]
            return answers.pop(0) if answers else Answer()

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that has hung up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: RestServer

    def do_GET(self) -> None:
        """One request."""
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, unquote(parts.path), dict(parse_qsl(parts.query)), headers, body)
        answer = self.server.note(request)
        time.sleep(answer.delay)
        if answer.body == "none":
            self.close_connection = True
        elif answer.status != 200:
            self._send(answer.status, {"title": "scripted", "status": answer.status}, answer)
        else:
            with self.server.lock:
                status, data = self.server.respond(request)
            self._send(status, data, answer)

    do_POST = do_GET

    def do_PUT(self) -> None:
        """`/days`: other days."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            days = DAYS.validate_json(body)
        except ValidationError as fault:
            self._send(400, {"title": str(fault)}, Answer())
            return
        self.server.days.update(days)
        self._send(200, {}, Answer())

    def _send(self, status: int, data: Any, answer: Answer) -> None:
        content = json.dumps(data).encode()
        sent = {"garbage": b"<html>It works!</html>", "cut": content[: len(content) // 2]}.get(
            answer.body, content
        )
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content) if answer.body == "cut" else len(sent)))
        for wait in answer.retry_after.split("\n") if answer.retry_after is not None else []:
            self.send_header("Retry-After", wait)
        self.end_headers()
        self.wfile.write(sent)
        self.close_connection = answer.body == "cut"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: `requests` tells more."""
