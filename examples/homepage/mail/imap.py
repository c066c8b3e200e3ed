"""A mailbox by IMAP. It blocks: one thread at a time, never an event loop."""

from __future__ import annotations

import imaplib
import re
import ssl
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from examples.homepage.mail.settings import MailSettings

_HERE = {"localhost", "127.0.0.1", "::1"}
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)")


class MailboxUnusable(Exception):
    """The server does not let us in, or does not talk as agreed; it may, next time. The message holds no password."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A mail, or of one larger than allowed (`whole` is false) the beginning of its header. `size` as the server says."""

    size: int
    raw: bytes
    whole: bool


class Mailbox:
    """To be closed whatever happens. Every other call raises MailboxUnusable or OSError."""

    def __init__(self, settings: MailSettings) -> None:
        assert settings.imap_url is not None
        self._url = urlsplit(settings.imap_url.get_secret_value())
        self._timeout = settings.timeout
        self._most = settings.most_bytes
        self.name = unquote(self._url.path.strip("/")) or "INBOX"
        self.uid_validity = 0
        self._imap: imaplib.IMAP4 | None = None

    def open(self) -> None:
        """Connect, log in and select the folder; `uid_validity` is known from here on."""
        try:
            self._imap = self._connect()
            self._said(self._imap.login(unquote(self._url.username or ""), unquote(self._url.password or "")))
            self._said(self._imap.select(f'"{self.name}"'))
            self.uid_validity = int(self._imap.response("UIDVALIDITY")[1][0] or b"0")
        except imaplib.IMAP4.error as fault:
            raise _unusable(fault) from None

    def after(self, last: int) -> list[int]:
        """The UIDs above `last`, lowest first."""
        # `*` is the last mail, even where its UID is lower than what the range begins with.
        [found] = self._uid("SEARCH", f"UID {last + 1}:*")
        return sorted(uid for uid in map(int, (found or b"").split()) if uid > last)

    def fetch(self, uid: int) -> Fetched | None:
        """One mail, without marking it as read; None where it is not there any more."""
        told = self._uid("FETCH", str(uid), "(UID RFC822.SIZE)")
        sized = _SIZE.search(told[0] or b"") if told else None
        if sized is None:
            return None
        size = int(sized[1])
        whole = size <= self._most
        # The bound is said to the server as well: sizes are at times wrong.
        wanted = f"BODY.PEEK[]<0.{self._most + 1}>" if whole else "BODY.PEEK[HEADER]<0.65536>"
        for answer in self._uid("FETCH", str(uid), f"(UID {wanted})"):
            if isinstance(answer, tuple):
                raw = bytes(answer[1])
                return Fetched(
                    size, raw[:65536] if len(raw) > self._most else raw, whole and len(raw) <= self._most
                )
        return None

    def seen(self, uid: int) -> None:
        """Mark a mail as read, for people who look into the mailbox; what was processed is known without it."""
        self._uid("STORE", str(uid), "+FLAGS.SILENT", r"(\Seen)")

    def close(self) -> None:
        """Log out, if there is still somebody to say it to."""
        imap, self._imap = self._imap, None
        if imap is not None:
            try:
                imap.logout()
            except (OSError, imaplib.IMAP4.error):
                imap.shutdown()

    def _connect(self) -> imaplib.IMAP4:
        host = self._url.hostname or ""
        if self._url.scheme == "imaps":
            port = self._url.port or 993
            return imaplib.IMAP4_SSL(host, port, ssl_context=_trusted(), timeout=self._timeout)
        imap = imaplib.IMAP4(host, self._url.port or 143, timeout=self._timeout)
        if host not in _HERE:  # a password goes over TLS, or to this machine
            imap.starttls(_trusted())
        return imap

    def _uid(self, command: str, *arguments: str) -> list[Any]:
        assert self._imap is not None
        try:
            return self._said(self._imap.uid(command, *arguments))
        except imaplib.IMAP4.error as fault:
            raise _unusable(fault) from None

    @staticmethod
    def _said(answer: tuple[str, list[Any]]) -> list[Any]:
        if answer[0] != "OK":
            raise MailboxUnusable(f"the server said {answer[0]}: {answer[1]!r}"[:500])
        return answer[1]


@cache
def _trusted() -> ssl.SSLContext:
    """Whom this machine trusts, read once: that takes longer than a look into the mailbox, and there is one every minute."""
    return ssl.create_default_context()


def _unusable(fault: imaplib.IMAP4.error) -> MailboxUnusable:
    return MailboxUnusable(str(fault)[:500])
