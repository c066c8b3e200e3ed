"""The mails of an IMAP server: one folder, as RFC 3501 numbers them."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


@dataclass
class Mail:
    """One mail. Its UID never changes, and is never another's while UIDVALIDITY stays."""

    uid: int
    raw: bytes
    flags: set[str] = field(default_factory=set)

    @property
    def header(self) -> bytes:
        """Up to and with the empty line."""
        head, line, _ = self.raw.partition(b"\r\n\r\n")
        return head + line


class Folder:
    """INBOX. Safe for threads."""

    def __init__(self) -> None:
        self.validity = 1_700_000_000
        self._mails: list[Mail] = []
        self._next = 1
        self._lock = threading.Lock()

    def add(self, raw: bytes) -> int:
        """Take a mail in; its UID. Line ends become those of mail."""
        with self._lock:
            lines = raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            self._mails.append(Mail(self._next, lines))
            self._next += 1
            return self._next - 1

    def renumber(self, first: int = 1) -> None:
        """As after a restore from a backup: other UIDs, from `first`, and so another UIDVALIDITY."""
        with self._lock:
            self.validity += 1
            for number, mail in enumerate(self._mails):
                mail.uid = first + number
            self._next = first + len(self._mails)

    def delete(self, uid: int) -> None:
        """As somebody does who looks into it."""
        with self._lock:
            self._mails = [mail for mail in self._mails if mail.uid != uid]

    def all(self) -> list[Mail]:
        """Lowest UID first."""
        with self._lock:
            return list(self._mails)

    def within(self, ranges: str) -> list[tuple[int, Mail]]:
        """The mails of a set of UIDs as `3:*,7`, each with its sequence number."""
        mails = self.all()
        highest = mails[-1].uid if mails else 0
        wanted: list[tuple[int, int]] = []
        for piece in ranges.split(","):
            ends = [highest if end == "*" else int(end) for end in piece.split(":")]
            wanted.append((min(ends), max(ends)))
        return [
            (number, mail)
            for number, mail in enumerate(mails, 1)
            if any(low <= mail.uid <= high for low, high in wanted)
        ]
