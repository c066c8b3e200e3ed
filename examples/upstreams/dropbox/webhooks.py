"""Dropbox's webhooks: a challenge first, then signed notes of which accounts have changed; no word of what."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
import time

import httpx

TOGETHER = 1.0
"""Seconds for which changes are gathered into one note."""

ATTEMPTS = 8


class Webhooks:
    """Sends the notes of one app from a thread of its own, until it is closed."""

    def __init__(self, url: str, app_secret: str) -> None:
        self._url = url
        self._secret = app_secret.encode()
        self._changed: set[str] = set()
        self._lock = threading.Condition()
        self._closed = False
        self._http = httpx.Client(timeout=10.0)
        self._thread = threading.Thread(target=self._run, name="dropbox-webhooks", daemon=True)

    def verify(self) -> None:
        """The receiver must echo a challenge. Raises RuntimeError."""
        challenge = secrets.token_urlsafe(12)
        answer = self._http.get(self._url, params={"challenge": challenge})
        if answer.status_code != 200 or answer.text != challenge:
            raise RuntimeError(
                f"{self._url} did not echo the challenge: {answer.status_code} {answer.text[:80]!r}"
            )

    def start(self) -> None:
        """Verify, then send as things change."""
        self.verify()
        self._thread.start()

    def changed(self, account: str) -> None:
        """Something in this account has changed."""
        with self._lock:
            self._changed.add(account)
            self._lock.notify()

    def close(self) -> None:
        """Stop; what was not sent is not sent."""
        with self._lock:
            self._closed = True
            self._lock.notify()
        if self._thread.ident is not None:
            self._thread.join()
        self._http.close()

    def send(self, accounts: list[str], secret: bytes | None = None) -> httpx.Response:
        """One note, signed by HMAC-SHA256 over its body."""
        body = json.dumps({"list_folder": {"accounts": accounts}, "delta": {"users": []}}).encode()
        signature = hmac.new(secret or self._secret, body, hashlib.sha256).hexdigest()
        headers = {"X-Dropbox-Signature": signature, "Content-Type": "application/json"}
        return self._http.post(self._url, content=body, headers=headers)

    def _run(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._changed or self._closed)
                if self._closed:
                    return
            time.sleep(TOGETHER)
            with self._lock:
                accounts, self._changed = sorted(self._changed), set()
            self._until_taken(accounts)

    def _until_taken(self, accounts: list[str]) -> None:
        for attempt in range(ATTEMPTS):
            try:
                if self.send(accounts).is_success:
                    return
            except httpx.HTTPError:
                pass  # as an answer that is no success
            with self._lock:
                if self._lock.wait_for(lambda: self._closed, 0.1 * 2**attempt):
                    return
