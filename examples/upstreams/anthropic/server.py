"""The HTTP server of the stand-in: it tags what it is asked to, and has its bad days by a script or reply by reply."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from examples.upstreams.anthropic.replies import Reply, error, message
from examples.upstreams.anthropic.tagger import tags
from examples.upstreams.script import Script

KEY = "a-key-of-the-stand-in"
QUIET = Script(latency=(0.0, 0.0))


class AnthropicServer(ThreadingHTTPServer):
    """`key` is the API key that callers must send.

    Attributes:
        planned: the next replies, in order; after them the script's.
        judge: what it says to an article where no reply says anything else.
        open: while it is not set, every call waits: a test holds the service here.
        waiting: how many calls do.
        requests: bodies of all calls with the right key.
        answers: how many were given, by status; 0 is none.
        tokens: used in and out by all good answers.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, script: Script = QUIET, *, key: str = KEY, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.key = key
        self.script = script
        self.planned: deque[Reply] = deque()
        self.judge: Callable[[str], Reply] = lambda article: Reply()
        self.open = threading.Event()
        self.open.set()
        self.ended = threading.Event()
        self.waiting = 0
        self.requests: list[dict[str, Any]] = []
        self.answers: Counter[int] = Counter()
        self.tokens = [0, 0]
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """Address without a path: what a client has as its base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def shutdown(self) -> None:
        """End, and let go whoever waits."""
        self.ended.set()
        self.open.set()
        super().shutdown()

    def enter(self, request: dict[str, Any]) -> int:
        """Wait until the service is open; the number of the call, from 1."""
        with self.lock:
            self.requests.append(request)
            number = len(self.requests)
            self.waiting += 1
        self.open.wait()
        with self.lock:
            self.waiting -= 1
        return number

    def reply(self, number: int, article: str) -> Reply:
        """What call number so much is told."""
        with self.lock:
            if self.planned:
                return self.planned.popleft()
        answer = self.script.answer(number, 1)
        delay = answer.delay + random.Random(number).uniform(*self.script.latency)
        if answer.status == 200 and answer.body == "good":
            return replace(self.judge(article), delay=delay)
        headers = {} if answer.retry_after is None else {"Retry-After": answer.retry_after}
        return Reply(status=answer.status, headers=headers, delay=delay, body=answer.body)

    def count(self, status: int, usage: tuple[Any, Any] = (0, 0)) -> None:
        """Note one answer."""
        with self.lock:
            self.answers[status] += 1
            self.tokens = [self.tokens[0] + usage[0], self.tokens[1] + usage[1]]

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that has hung up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: AnthropicServer

    def do_POST(self) -> None:
        """One call of the service."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        refused = self._refused(body)
        if refused:
            self._send(refused, json.dumps(error(refused)).encode(), {})
            return
        request = json.loads(body)
        number = self.server.enter(request)
        article = str(request["messages"][0]["content"])
        reply = self.server.reply(number, article)
        time.sleep(reply.delay)
        if reply.body == "none":
            self.server.count(0)
            self.close_connection = True
        elif reply.status != 200:
            self._send(reply.status, json.dumps(error(reply.status)).encode(), reply.headers)
        else:
            self._answer(number, request, article, reply)

    def _refused(self, body: bytes) -> int:
        """The status of the error that a request gets, whatever the day; 0 where it is in order."""
        if self.path != "/v1/messages":
            return 404
        # Clients send the key as a bearer token; older ones in a header of its own.
        key = self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")
        if key != self.server.key:
            return 401
        try:
            request = json.loads(body)
            fits = {"model", "max_tokens", "messages"} <= request.keys() and request["messages"][0]["content"]
        except (ValueError, AttributeError, LookupError, TypeError):
            return 400
        return 0 if fits and self.headers.get("anthropic-version") else 400

    def _answer(self, number: int, request: dict[str, Any], article: str, reply: Reply) -> None:
        text = tags(article) if reply.text is None else reply.text
        # About as many letters to a token as real ones have.
        asked = len(str(request.get("system", ""))) + len(article)
        usage = reply.usage or (1 + asked // 4, 1 + len(text) // 4)
        data = message(number, request["model"], text, reply.stop_reason, usage)
        self._send(200, json.dumps(data).encode(), reply.headers, reply, usage)

    def _send(
        self,
        status: int,
        content: bytes,
        headers: dict[str, str],
        reply: Reply | None = None,
        usage: tuple[Any, Any] = (0, 0),
    ) -> None:
        self.server.count(status, usage)
        kind = "good" if reply is None else reply.body
        page = b"<html><body>502 Bad Gateway</body></html>"
        if kind in ("huge", "deep"):
            content = {"huge": b" " * 10**7, "deep": b"[" * 10**5}[kind]
        sent = {"garbage": page, "cut": content[: len(content) // 2], "slow": b""}.get(kind, content)
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if kind == "garbage" else "application/json")
        self.send_header("Content-Length", str(len(sent) if kind == "garbage" else len(content)))
        self.send_header("request-id", "req_011CStandIn")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if kind == "slow":
            self._drip(content)
        else:
            self.wfile.write(sent)
        self.close_connection = kind in ("cut", "slow")

    def _drip(self, content: bytes) -> None:
        """A byte now and then: each read of the caller's succeeds, and the whole takes for ever."""
        for at in range(len(content) - 1):
            self.wfile.write(content[at : at + 1])
            self.wfile.flush()
            if self.server.ended.wait(0.05):
                return

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the caller's own logs tell more."""
