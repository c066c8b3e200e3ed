"""The HTTP server of the stand-in: what `pages.py` has, and

    /to?url=URL         302 to there                      /redirects            302 to another of its kind, for ever
    /status/NUMBER      that status; 401 asks for a name  /silent               takes the request and says nothing
    /endless            a document that never ends        /flood                bytes without an end
    /bytes/NUMBER       so many bytes                     /download             a file to be saved
    /empty              204                               /garbage              what is no HTTP
    /cut                half of what it promised          /keep-alive           says that the connection stays open
    /hints              103, then a page                  /worker.js            a worker's script

`hold` keeps the pages below /held back until it is let go.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from examples.upstreams.wild_pages.pages import PAGES, WORKER

HTML = "text/html; charset=utf-8"


class WildPages(ThreadingHTTPServer):
    """Serves GET on 127.0.0.1. `asked` counts requests by path. `elsewhere` is what pages try to reach, as `host:port`."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *, port: int = 0, elsewhere: str = "127.0.0.2:8000") -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.elsewhere = elsewhere
        self.asked: Counter[str] = Counter()
        self.hold = threading.Event()
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that has hung up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def server_close(self) -> None:
        """Ends what has no end."""
        self.closing.set()
        self.hold.set()
        super().server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: WildPages

    def do_GET(self) -> None:
        """One request."""
        parts = urlsplit(self.path)
        self.server.asked[parts.path] += 1
        _, kind, *rest = parts.path.split("/", 2)
        name = rest[0] if rest else ""
        if parts.path in PAGES:
            self._document(PAGES[parts.path])
        elif kind == "to":
            self._send(302, b"", HTML, ("Location", parse_qs(parts.query)["url"][0]))
        elif kind == "redirects":
            self._send(302, b"", HTML, ("Location", f"/redirects/{self.server.asked.total()}"))
        elif kind == "status":
            self._send(int(name), b"no", HTML, *_asking(int(name)))
        elif kind == "bytes":
            self._send(200, b"x" * int(name), "application/octet-stream")
        else:
            getattr(self, f"_{kind.replace('-', '_').replace('.', '_')}", self._nothing)()

    do_POST = do_GET

    def _document(self, text: str) -> None:
        port = str(self.server.server_address[1])
        filled = text.replace("{elsewhere}", self.server.elsewhere).replace("{port}", port)
        self._send(200, filled.encode(), HTML)

    def _nothing(self) -> None:
        self._send(404, b"no such page", HTML)

    def _held(self) -> None:
        self.server.hold.wait()
        self._document(PAGES["/good"])

    def _silent(self) -> None:
        self.server.closing.wait()
        self.close_connection = True

    def _endless(self) -> None:
        self._unbounded(b"<!doctype html><title>endless</title>", b"<p>more", 0.05)

    def _flood(self) -> None:
        self._unbounded(b"<!doctype html><title>flood</title>", b"<!-- flood -->" * 5000, 0)

    def _unbounded(self, begin: bytes, more: bytes, pause: float) -> None:
        self.send_response(200)
        self.send_header("Content-Type", HTML)
        self.end_headers()
        self.close_connection = True
        self.wfile.write(begin)
        while not self.server.closing.wait(pause):
            self.wfile.write(more)

    def _download(self) -> None:
        self._send(200, b"x" * 1000, "application/zip", ("Content-Disposition", "attachment; filename=x.zip"))

    def _empty(self) -> None:
        self.send_response(204)
        self.end_headers()

    def _garbage(self) -> None:
        self.wfile.write(b"\x00\x01\x02 it works!\r\n\r\n" * 100)
        self.close_connection = True

    def _cut(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", HTML)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b"<title>cut</title>half")
        self.close_connection = True

    def _keep_alive(self) -> None:
        self._send(200, b"<title>kept</title><img src=/good>", HTML, ("Connection", "keep-alive"))

    def _hints(self) -> None:
        self.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </good>; rel=preload\r\n\r\n")
        self._document(PAGES["/good"])

    def _worker_js(self) -> None:
        self._send(200, WORKER.replace("{elsewhere}", self.server.elsewhere).encode(), "text/javascript")

    def _send(self, status: int, content: bytes, kind: str, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: `asked` tells more."""


def _asking(status: int) -> list[tuple[str, str]]:
    """What comes with some statuses."""
    return {
        401: [("WWW-Authenticate", 'Basic realm="here"')],
        407: [("Proxy-Authenticate", 'Basic realm="here"')],
        429: [("Retry-After", "7200")],
    }.get(status, [])
