"""Twilio, Expo and Ably on one port, each by the paths of its own; what they take is kept, on bad days a script decides."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote

from examples.upstreams.script import Answer, Script

GARBAGE = b"<html>It works!</html>"
NO_SUCH_NUMBER, GONE_DEVICE = "+0", "ExponentPushToken[gone]"


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that was taken."""

    channel: str
    to: str
    text: str


class MessageServer(ThreadingHTTPServer):
    """Serves on 127.0.0.1. The script counts requests by their channel and body: equal ones are calls of the same request."""

    daemon_threads = True

    def __init__(self, script: Script | None = None, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self._lock = threading.Lock()
        self.reset(script)

    def reset(self, script: Script | None = None) -> None:
        """Nothing was ever sent, and the script begins anew."""
        self.script = script or Script(latency=(0.0, 0.0))
        self.sent: list[Sent] = []
        self.calls = 0
        self._numbers: dict[bytes, int] = {}
        self._seen: Counter[bytes] = Counter()
        self._ids: set[str] = set()

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def planned(self, request: bytes) -> Answer:
        """What the script says to this call."""
        with self._lock:
            self.calls += 1
            number = self._numbers.setdefault(request, len(self._numbers) + 1)
            self._seen[request] += 1
            return self.script.answer(number, self._seen[request])

    def take(self, sent: Sent, id: str | None = None) -> None:
        """Keep a message; one of an id that came before is not sent again."""
        with self._lock:
            if id is not None and id in self._ids:
                return
            self._ids |= {id} if id else set()
            self.sent.append(sent)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: MessageServer

    def do_GET(self) -> None:
        """What was taken."""
        sent = [[one.channel, one.to, one.text] for one in self.server.sent]
        self._send(200, {"sent": sent, "calls": self.server.calls})

    def do_PUT(self) -> None:
        """Another script."""
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.script = Script.model_validate_json(content)
        self._send(200, {})

    def do_POST(self) -> None:
        """One message."""
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        answer = self.server.planned(self.path.encode() + content)
        time.sleep(answer.delay + self.server.script.latency[0])
        if answer.body == "none":
            self.close_connection = True
        elif answer.status != 200 or answer.body == "garbage":
            self._send(answer.status, GARBAGE, answer.retry_after)
        else:
            self._send(*self._taken(content))

    def _taken(self, content: bytes) -> tuple[int, object]:
        if self.path.startswith("/2010-04-01/"):
            form = {name: values[0] for name, values in parse_qs(content.decode()).items()}
            if form["To"] == NO_SUCH_NUMBER:
                return 400, {"code": 21211, "message": "Invalid 'To' Phone Number"}
            self.server.take(Sent("sms", form["To"], form["Body"]))
            return 201, {"sid": f"SM{self.server.calls:032x}"}
        data = json.loads(content)
        if self.path == "/--/api/v2/push/send":
            if data["to"] == GONE_DEVICE:
                gone = {"status": "error", "message": "gone", "details": {"error": "DeviceNotRegistered"}}
                return 200, {"data": gone}
            self.server.take(Sent("push", data["to"], data["body"]))
            return 200, {"data": {"status": "ok", "id": f"ticket-{self.server.calls}"}}
        channel = unquote(self.path.split("/")[2])
        self.server.take(Sent("in-app", channel, data["data"]), data["id"])
        return 201, {"channel": channel, "messageId": data["id"]}

    def _send(self, status: int, data: object, retry_after: str | None = None) -> None:
        content = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
