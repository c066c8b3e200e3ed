"""One Dropbox account: files, a journal of what changed, and cursors into it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

BLOCK = 4 * 1024 * 1024
Entry = dict[str, Any]


class Refused(Exception):
    """What the API answers with 409: the endpoint's own error, as `path/not_found` or `reset`."""

    def __init__(self, summary: str, error: Entry) -> None:
        super().__init__(summary)
        self.summary = summary
        self.error = error


def content_hash(content: bytes) -> str:
    """Dropbox's: SHA-256 over the SHA-256 of each block of 4 MiB."""
    blocks = (content[at : at + BLOCK] for at in range(0, len(content), BLOCK))
    return hashlib.sha256(b"".join(hashlib.sha256(block).digest() for block in blocks)).hexdigest()


@dataclass(frozen=True, slots=True)
class File:
    """A file as it is now. `entry` is its metadata as the API shows it."""

    content: bytes
    entry: Entry


class Account:
    """Thread-safe. `listed`: an app has asked what there is."""

    def __init__(self, id: str) -> None:
        self.id = id
        self._lock = threading.RLock()
        self._files: dict[str, File] = {}
        self._journal: list[str] = []
        self._epoch = 0
        self.listed = False

    def upload(self, path: str, content: bytes) -> Entry:
        """A new file, or a new revision of one."""
        with self._lock:
            lower = path.lower()
            before = self._files.get(lower)
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            entry: Entry = {
                "name": path.rpartition("/")[2],
                "path_lower": lower,
                "path_display": path,
                "id": before.entry["id"] if before else f"id:{len(self._journal):022x}",
                "client_modified": now,
                "server_modified": now,
                "rev": f"{len(self._journal) + 1:015x}",
                "size": len(content),
                "is_downloadable": True,
                "content_hash": content_hash(content),
            }
            self._files[lower] = File(content, entry)
            self._journal.append(lower)
            return entry

    def delete(self, path: str) -> Entry:
        """Remove a file."""
        with self._lock:
            file = self._files.pop(path.lower(), None)
            if file is None:
                raise Refused("path_lookup/not_found", {".tag": "path_lookup", "path_lookup": _NOT_FOUND})
            self._journal.append(path.lower())
            return file.entry

    def download(self, path: str) -> File:
        """A file by its path or id."""
        with self._lock:
            for lower, file in self._files.items():
                if path.lower() in (lower, file.entry["id"]):
                    return file
        raise Refused("path/not_found", {".tag": "path", "path": _NOT_FOUND})

    def reset(self) -> None:
        """Every cursor that was given out is refused from now on, as happens now and then."""
        with self._lock:
            self._epoch += 1

    def begin(self, path: str, limit: int) -> Entry:
        """The first page of a folder, recursively."""
        with self._lock:
            if path and not any(lower.startswith(f"{path.lower()}/") for lower in self._files):
                raise Refused("path/not_found", {".tag": "path", "path": _NOT_FOUND})
            self.listed = True
            return self._page(path.lower(), limit, len(self._journal), "")

    def latest(self, path: str, limit: int) -> str:
        """A cursor after all that there is."""
        with self._lock:
            return self._cursor(path.lower(), limit, len(self._journal), None)

    def go_on(self, cursor: str) -> Entry:
        """The page after a cursor."""
        try:
            told = json.loads(base64.urlsafe_b64decode(cursor))
            account, epoch, path, limit, at, after = told
        except (ValueError, binascii.Error):
            raise Refused("reset", {".tag": "reset"}) from None
        with self._lock:
            if account != self.id or epoch != self._epoch or at > len(self._journal):
                raise Refused("reset", {".tag": "reset"})
            return self._page(path, limit, at, after)

    def _page(self, path: str, limit: int, at: int, after: str | None) -> Entry:
        """From `after` on what is there, or where that was all, what has changed since `at`."""
        if after is not None:
            there = sorted(lower for lower in self._files if lower.startswith(f"{path}/") and lower > after)
            shown, rest = there[:limit], there[limit:]
            after = shown[-1] if rest else None
            more = bool(rest) or at < len(self._journal)
        else:
            shown = []
            while at < len(self._journal) and len(shown) < limit:
                if (
                    self._journal[at].startswith(f"{path}/")
                    and self._journal[at] not in self._journal[at + 1 :]
                ):
                    shown.append(self._journal[at])
                at += 1
            more = at < len(self._journal)
        return {
            "entries": [self._shown(lower) for lower in shown],
            "cursor": self._cursor(path, limit, at, after),
            "has_more": more,
        }

    def _shown(self, lower: str) -> Entry:
        file = self._files.get(lower)
        if file is None:
            return {
                ".tag": "deleted",
                "name": lower.rpartition("/")[2],
                "path_lower": lower,
                "path_display": lower,
            }
        return {".tag": "file", **file.entry}

    def _cursor(self, path: str, limit: int, at: int, after: str | None) -> str:
        told = json.dumps([self.id, self._epoch, path, limit, at, after])
        return base64.urlsafe_b64encode(told.encode()).decode()


_NOT_FOUND: Entry = {".tag": "not_found"}
