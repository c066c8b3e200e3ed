"""Pages of all manners: each path says what it answers.

/fine/…                 200                           /status/NUMBER/…   that status
/head/NUMBER/…          NUMBER to HEAD, 200 to GET    /hangs-up/…        no answer to HEAD, 200 to GET
/moved/NUMBER/PATH      a redirect of that status     /loop              redirects to itself
/busy/SECONDS/…         429 with Retry-After          /slow/…            no answer until the server ends
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class WebsiteServer(ThreadingHTTPServer):
    """On 127.0.0.1. `asked`: requests by method and path. `most`: most requests at once, without slow ones.

    `statuses` are what paths answer whatever they say of themselves; `latency` in seconds is that of each request.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.asked: Counter[tuple[str, str]] = Counter()
        self.statuses: dict[str, int] = {}
        self.most = 0
        self.latency = 0.0
        self.closing = threading.Event()
        self._open = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def begin(self, method: str, path: str) -> None:
        """A request is here."""
        with self._lock:
            self.asked[method, path] += 1
            self._open += 1
            self.most = max(self.most, self._open)

    def end(self) -> None:
        """It is about to be answered."""
        with self._lock:
            self._open -= 1

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that has hung up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def server_close(self) -> None:
        """Ends what is slow."""
        self.closing.set()
        super().server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WebsiteServer

    def do_GET(self) -> None:
        """One request."""
        self.server.begin(self.command, self.path)
        try:
            time.sleep(self.server.latency)
            answer = self._answer()
        finally:
            self.server.end()
        if self.path.startswith("/slow"):
            self.server.closing.wait()
        if answer is None:
            self.close_connection = True
            return
        status, headers = answer
        body = b"" if self.command == "HEAD" else b"<title>A page</title>"
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_HEAD = do_GET

    def _answer(self) -> tuple[int, dict[str, str]] | None:
        kind, _, rest = self.path[1:].partition("/")
        first, _, after = rest.partition("/")
        if self.path in self.server.statuses:
            return self.server.statuses[self.path], {}
        if kind == "fine":
            return 200, {}
        if kind == "status":
            return int(first), {}
        if kind == "head":
            return (int(first) if self.command == "HEAD" else 200), {}
        if kind == "hangs-up":
            return None if self.command == "HEAD" else (200, {})
        if kind == "moved":
            return int(first), {"Location": "/" + after}
        if kind == "loop":
            return 301, {"Location": self.path}
        if kind == "busy":
            return 429, {"Retry-After": first}
        if kind == "slow":
            return None
        return 404, {}

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: `asked` tells more."""
