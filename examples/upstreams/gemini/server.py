"""The HTTP server of the stand-in: it embeds for real, and has its bad days by a script."""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from examples.upstreams.gemini.errors import Refused, error
from examples.upstreams.gemini.vectors import DIMENSIONS, embed
from examples.upstreams.script import Answer, Script, load_script

KEY = "a-key-of-the-stand-in"
MODEL = "gemini-embedding-001"
MOST_CHARACTERS = 8_000
MOST_IN_A_BATCH = 100
QUIET = Script(latency=(0.0, 0.0))

_PATH = re.compile(r"/v1beta/models/([\w.-]+):(embedContent|batchEmbedContents)")


class GeminiServer(ThreadingHTTPServer):
    """`key` is the API key that callers must send; equal bodies are calls of one request for the script.

    Attributes:
        open: while it is not set, every call waits: a test holds the service here.
        waiting: how many calls do.
        embedded: texts that were embedded, and how often.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, script: Script = QUIET, *, key: str = KEY, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.key = key
        self.open = threading.Event()
        self.open.set()
        self.waiting = 0
        self.embedded: Counter[str] = Counter()
        self.answers: Counter[int] = Counter()
        self._lock = threading.Lock()
        self.play(script)

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def play(self, script: Script) -> None:
        """From now on this script, with requests and their calls counted anew."""
        with self._lock:
            self._script = script
            self._numbers: dict[bytes, int] = {}
            self._calls: Counter[bytes] = Counter()

    def enter(self) -> None:
        """Wait until the service is open."""
        with self._lock:
            self.waiting += 1
        self.open.wait()
        with self._lock:
            self.waiting -= 1

    def plan(self, body: bytes) -> tuple[Answer, float]:
        """The script's answer to this call, and its latency in seconds."""
        mark = hashlib.sha256(body).digest()
        with self._lock:
            number = self._numbers.setdefault(mark, len(self._numbers) + 1)
            self._calls[mark] += 1
            call = self._calls[mark]
            script = self._script
        return script.answer(number, call), random.Random(f"{number}/{call}").uniform(*script.latency)

    def count(self, status: int, texts: list[str]) -> None:
        """Note one answer; 0 is none."""
        with self._lock:
            self.answers[status] += 1
            self.embedded.update(texts)

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that has hung up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: GeminiServer

    def do_GET(self) -> None:
        """`/statistics`, for whoever runs the server."""
        if self.path != "/statistics":
            self._send(404, error(404))
            return
        texts = sum(self.server.embedded.values())
        answers = {str(status): count for status, count in self.server.answers.items()}
        self._send(200, {"texts": texts, "answers": answers})

    def do_PUT(self) -> None:
        """`/script` and `/key`: another day, another key."""
        text = self._body().decode()
        try:
            if self.path == "/script":
                self.server.play(load_script(text))
            elif self.path == "/key":
                self.server.key = text
            else:
                raise ValueError(f"there is no {self.path}")
        except ValueError as fault:
            self._send(400, error(400, str(fault)))
        else:
            self._send(200, {})

    def do_POST(self) -> None:
        """One call of the service."""
        body = self._body()
        if self.headers.get("x-goog-api-key") != self.server.key:
            self._refuse(401, None)
            return
        self.server.enter()
        answer, latency = self.server.plan(body)
        time.sleep(latency + answer.delay)
        if answer.body == "none":
            self.server.count(0, [])
            self.close_connection = True
        elif answer.status != 200:
            self._refuse(answer.status, answer.retry_after)
        else:
            self._embed(body, answer)

    def _embed(self, body: bytes, answer: Answer) -> None:
        try:
            texts, data = _respond(self.path, body)
        except Refused as refused:
            self._refuse(refused.status, None, str(refused))
        else:
            self.server.count(200, texts)
            self._send(200, data, answer=answer)

    def _refuse(self, status: int, retry_after: str | None, message: str | None = None) -> None:
        self.server.count(status, [])
        headers = {} if retry_after is None else {"Retry-After": retry_after}
        self._send(status, error(status, message, retry_after=retry_after), headers)

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _send(
        self, status: int, data: object, headers: dict[str, str] | None = None, answer: Answer | None = None
    ) -> None:
        content = json.dumps(data).encode()
        kind = "good" if answer is None else answer.body
        sent = {"garbage": b"<html>It works!</html>", "cut": content[: len(content) // 2]}.get(kind, content)
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(content) if kind == "cut" else len(sent)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent)
        if kind == "cut":
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the caller's own logs tell more."""


def _respond(path: str, body: bytes) -> tuple[list[str], dict[str, Any]]:
    """The texts of a request, and the answer to it."""
    found = _PATH.fullmatch(path)
    if found is None or found[1] != MODEL:
        name = found[1] if found else path
        raise Refused(404, f"models/{name} is not found for API version v1beta, or is not supported here.")
    try:
        request = json.loads(body)
        requests = [request] if found[2] == "embedContent" else request["requests"]
        if not 1 <= len(requests) <= MOST_IN_A_BATCH:
            raise Refused(400, f"at most {MOST_IN_A_BATCH} requests can be in one batch")
        made = [(_text(one), int(one.get("outputDimensionality", DIMENSIONS))) for one in requests]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Refused(400, "Invalid JSON payload received.") from None
    vectors = [{"values": embed(text, dimensions)} for text, dimensions in made]
    texts = [text for text, _ in made]
    return texts, {"embedding": vectors[0]} if found[2] == "embedContent" else {"embeddings": vectors}


def _text(request: dict[str, Any]) -> str:
    text = " ".join(str(part["text"]) for part in request["content"]["parts"])
    if not text.strip():
        raise Refused(400, "content is empty.")
    if len(text) > MOST_CHARACTERS:
        raise Refused(400, f"The input is too long: {len(text)} characters.")
    return text
