"""A storage zone in the shapes of Bunny's: `PUT`, `GET` and `DELETE /zone/NAME`.

Who puts or deletes sends the zone's password as AccessKey, and may send the SHA-256 of a file as Checksum; readers send neither.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from examples.upstreams.script import Answer

KEY = "key-of-the-zone"


class CdnServer(ThreadingHTTPServer):
    """On 127.0.0.1. `files` are those of the zone, `asked` requests by method.

    `days`: what the next requests that change something are answered, before good answers. `closed`: a status that all of
    them are answered, as long as it is set.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *, key: str = KEY, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.key = key
        self.files: dict[str, bytes] = {}
        self.asked: Counter[str] = Counter()
        self.days: list[Answer] = []
        self.closed: int | None = None
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """Address of the zone."""
        return f"http://127.0.0.1:{self.server_address[1]}/zone"

    def note(self, method: str) -> Answer:
        """How the day is for this request."""
        with self.lock:
            self.asked[method] += 1
            if method == "GET":
                return Answer()
            if self.closed is not None:
                return Answer(status=self.closed)
            return self.days.pop(0) if self.days else Answer()

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that has hung up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: CdnServer

    def do_GET(self) -> None:
        """One request."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        answer = self.server.note(self.command)
        time.sleep(answer.delay)
        if answer.body == "none":
            self.close_connection = True
            return
        if answer.status != 200:
            self._say(answer.status, "scripted", answer.retry_after)
            return
        zone, _, name = self.path[1:].partition("/")
        with self.server.lock:
            self._respond(name if zone == "zone" else "", body)

    do_PUT = do_DELETE = do_GET

    def _respond(self, name: str, body: bytes) -> None:
        files = self.server.files
        if self.command == "GET" and name in files:
            self._send(200, files[name], "application/octet-stream")
        elif self.command == "GET" or not name:
            self._say(404, "Object Not Found")
        elif self.headers.get("AccessKey") != self.server.key:
            self._say(401, "Unauthorized")
        elif self.command == "DELETE":
            found = files.pop(name, None)
            self._say(404 if found is None else 200, "Object Not Found" if found is None else "File deleted")
        elif self.headers.get("Checksum", _checksum(body)) != _checksum(body):
            self._say(400, "Checksum mismatch")
        else:
            files[name] = body
            self._say(201, "File uploaded.")

    def _say(self, status: int, message: str, retry_after: str | None = None) -> None:
        said = json.dumps({"HttpCode": status, "Message": message}).encode()
        self._send(status, said, "application/json", retry_after)

    def _send(self, status: int, content: bytes, kind: str, retry_after: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: `files` and `asked` tell more."""


def _checksum(content: bytes) -> str:
    return sha256(content).hexdigest().upper()
