"""The HTTP server of the stand-in.

    /corpus/NAME        a file of the corpus              /odd/NAME, /hopeless/NAME   what documents.py has
    /changing/NAME      another document each time        /huge/BYTES                 a feed of so many bytes
    /cached             with ETag and Last-Modified, 304  /redirect?to=URL            302; /loop redirects to itself
    /status/NUMBER      that status                       /drip                       a byte now and then, for ever

Bad days come by `days`: the answers that a path gives first, before good ones.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

from examples.upstreams.feeds.changing import CHANGING
from examples.upstreams.feeds.documents import HOPELESS, ODD, Document, corpus, huge, item, rss
from examples.upstreams.script import Answer

FEED = "application/rss+xml"
SHELVES: Mapping[str, Mapping[str, Document]] = {"corpus": corpus(), "odd": ODD, "hopeless": HOPELESS}


class FeedServer(ThreadingHTTPServer):
    """Serves GET on 127.0.0.1. `asked` counts requests by path, `seen` keeps the headers of the last one.

    `Answer.retry_after` may hold several headers, one a line. `blocked`: a user agent with this in it is answered 403.
    `headers` come with every answer.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__((host, port), _Handler)
        self.days: defaultdict[str, list[Answer]] = defaultdict(list)
        self.pages: dict[str, Document] = {}
        self.asked: Counter[str] = Counter()
        self.seen: dict[str, dict[str, str]] = {}
        self.blocked: str | None = None
        self.headers: list[tuple[str, str]] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Address without a path."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def note(self, path: str, headers: dict[str, str]) -> tuple[int, Answer | None]:
        """Which time this is that somebody asks for the path, and how the day is."""
        with self._lock:
            self.asked[path] += 1
            self.seen[path] = headers
            answers = self.days[path]
            return self.asked[path], answers.pop(0) if answers else None

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that has hung up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def server_close(self) -> None:
        """Ends what drips."""
        self.closing.set()
        super().server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FeedServer

    def do_GET(self) -> None:
        """One request."""
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        number, answer = self.server.note(path, headers)
        if answer is not None and not self._good_day(answer):
            return
        if self.server.blocked and self.server.blocked in headers.get("user-agent", ""):
            self._send(403, b"robots are not welcome", "text/plain")
            return
        _, kind, *rest = path.split("/", 2)
        self._answer(path, kind, rest[0] if rest else "", number, parse_qs(parts.query))

    def _good_day(self, answer: Answer) -> bool:
        time.sleep(answer.delay)
        if answer.body == "none":
            self.close_connection = True
            return False
        if answer.status == 200:
            return True
        waits = answer.retry_after.split("\n") if answer.retry_after is not None else []
        self._send(answer.status, b"scripted", "text/plain", [("Retry-After", wait) for wait in waits])
        return False

    def _answer(self, path: str, kind: str, name: str, number: int, query: Mapping[str, list[str]]) -> None:
        document = self.server.pages.get(path) or SHELVES.get(kind, {}).get(name)
        if document is not None:
            encoding = [("Content-Encoding", document.encoding)] if document.encoding else []
            self._send(200, document.body, document.content_type, encoding)
        elif kind == "changing" and name in CHANGING:
            self._send(200, CHANGING[name](number).encode(), FEED)
        elif kind == "huge":
            self._send(200, huge(int(name)), FEED)
        elif kind == "cached":
            self._cached()
        elif kind == "redirect":
            self._send(302, b"", "text/plain", [("Location", query["to"][0])])
        elif kind == "loop":
            self._send(301, b"", "text/plain", [("Location", "/loop")])
        elif kind == "status":
            self._send(int(name), b"", "text/plain")
        elif kind == "drip":
            self._drip()
        else:
            self._send(404, b"no such feed", "text/plain")

    def _cached(self) -> None:
        headers = [("ETag", '"first"'), ("Last-Modified", "Mon, 02 Mar 2026 08:00:00 GMT")]
        if self.headers.get("If-None-Match") == '"first"':
            self._send(304, b"", FEED, headers)
        else:
            self._send(200, rss([item(1), item(2)]).encode(), FEED, headers)

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", FEED)
        self.end_headers()
        self.close_connection = True
        while not self.server.closing.wait(0.05):
            self.wfile.write(b" ")

    def _send(
        self, status: int, content: bytes, kind: str, headers: list[tuple[str, str]] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in [*(headers or []), *self.server.headers]:
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if status != 304:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: `asked` and `seen` tell more."""
