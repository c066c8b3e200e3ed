"""The HTTP server of the stand-in: `/2/files/…` as Dropbox answers them, with bad days by a script."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from examples.upstreams.dropbox.account import Account, Refused
from examples.upstreams.dropbox.webhooks import Webhooks
from examples.upstreams.script import Answer, Script

FILES = "/2/files/"
DEFAULT_LIMIT = 500
QUIET = Script(latency=(0.0, 0.0))


class DropboxServer(ThreadingHTTPServer):
    """`accounts` by the access token that opens each; the script's requests are those that list or download."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        accounts: Mapping[str, Account],
        script: Script = QUIET,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        super().__init__((host, port), _Handler)
        self.accounts = dict(accounts)
        self.script = script
        self.webhooks: Webhooks | None = None
        self.expired: set[str] = set()
        self.calls: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._numbers: dict[object, int] = {}
        self._repeats: Counter[object] = Counter()

    @property
    def url(self) -> str:
        """Address without a path."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def plan(self, endpoint: str, mark: object) -> tuple[Answer, float]:
        """The script's answer to this call, and its latency in seconds."""
        with self._lock:
            self.calls[endpoint] += 1
            number = self._numbers.setdefault(mark, len(self._numbers) + 1)
            self._repeats[mark] += 1
            call = self._repeats[mark]
        latency = random.Random(f"{number}/{call}").uniform(*self.script.latency)
        return self.script.answer(number, call), latency

    def changed(self, account: Account) -> None:
        """Tell the app, where it listens and knows this account: it has listed it."""
        if self.webhooks is not None and account.listed:
            self.webhooks.changed(account.id)

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that has hung up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: DropboxServer

    def do_POST(self) -> None:
        """One call."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        endpoint = self.path.removeprefix(FILES)
        account = self._account()
        if account is None:
            return
        scripted = endpoint in ("list_folder", "list_folder/continue", "download")
        if scripted and not self._good_day(endpoint, (endpoint, body, self.headers.get("Dropbox-API-Arg"))):
            return
        try:
            self._answer(endpoint, account, body)
        except Refused as refused:
            self._json(409, {"error_summary": f"{refused.summary}/...", "error": refused.error})
        except (ValueError, KeyError, TypeError) as fault:
            self._text(400, f'Error in call to API function "files/{endpoint}": request body: {fault}')

    def _account(self) -> Account | None:
        given = self.headers.get("Authorization", "")
        kind, _, token = given.partition(" ")
        if kind != "Bearer" or not token.startswith("sl."):
            # So does the real one: the header stands in the answer, and by it in everybody's logs.
            self._text(400, f'Invalid authorization value in HTTP header "Authorization": "{given}".')
            return None
        account = self.server.accounts.get(token)
        if account is None or token in self.server.expired:
            tag = "invalid_access_token" if account is None else "expired_access_token"
            self._json(401, {"error_summary": f"{tag}/...", "error": {".tag": tag}})
            return None
        return account

    def _good_day(self, endpoint: str, mark: object) -> bool:
        answer, latency = self.server.plan(endpoint, mark)
        time.sleep(latency + answer.delay)
        if answer.body == "none":
            self.close_connection = True
            return False
        if answer.status == 200:
            return True
        wait = answer.retry_after
        reason = {"reason": {".tag": "too_many_requests"}, "retry_after": int(wait or 0)}
        summary = "too_many_requests" if answer.status == 429 else "internal_error"
        headers = {} if wait is None else {"Retry-After": wait}
        self._json(answer.status, {"error_summary": f"{summary}/...", "error": reason}, headers)
        return False

    def _answer(self, endpoint: str, account: Account, body: bytes) -> None:
        if endpoint == "list_folder":
            asked = json.loads(body)
            self._json(200, account.begin(_folder(asked["path"]), int(asked.get("limit") or DEFAULT_LIMIT)))
        elif endpoint == "list_folder/continue":
            self._json(200, account.go_on(json.loads(body)["cursor"]))
        elif endpoint == "list_folder/get_latest_cursor":
            asked = json.loads(body)
            limit = int(asked.get("limit") or DEFAULT_LIMIT)
            self._json(200, {"cursor": account.latest(_folder(asked["path"]), limit)})
        elif endpoint == "download":
            file = account.download(json.loads(self.headers["Dropbox-API-Arg"])["path"])
            self._send(
                200, file.content, "application/octet-stream", {"Dropbox-API-Result": json.dumps(file.entry)}
            )
        elif endpoint == "upload":
            entry = account.upload(json.loads(self.headers["Dropbox-API-Arg"])["path"], body)
            self.server.changed(account)
            self._json(200, entry)
        elif endpoint == "delete_v2":
            entry = account.delete(json.loads(body)["path"])
            self.server.changed(account)
            self._json(200, {"metadata": {".tag": "file", **entry}})
        else:
            self._text(404, f"Unknown API function: files/{endpoint}")

    def _json(self, status: int, data: object, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, json.dumps(data).encode(), "application/json", headers)

    def _text(self, status: int, text: str) -> None:
        self._send(status, text.encode(), "text/plain; charset=utf-8")

    def _send(self, status: int, content: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the caller's own logs tell more."""


def _folder(path: str) -> str:
    if path == "/":
        raise ValueError("path: 'Specify the root folder as an empty string rather than as \"/\".'")
    return path.rstrip("/")
