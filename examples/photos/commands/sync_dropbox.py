"""`zoltag sync-dropbox`: what has changed in a tenant's Dropbox becomes pictures in the library and rows in the database.

Page by page: first the files (named by their content, so twice is once), then one transaction with the rows, the removals
and the new cursor. Whoever is killed in between loses that page's downloads at most. The event that tells of new
pictures is part of the last page's transaction.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from examples.photos.dropbox.client import Dropbox, Page
from examples.photos.dropbox.errors import CursorReset, NotFound
from examples.photos.library import Library
from examples.photos.statements import run
from postmill import publish

AT_ONCE = 4
"""Downloads at the same time."""

KINDS = (".jpg", ".jpeg", ".png")


class Overtaken(Exception):
    """Another sync of this folder has moved the cursor: look where it is now."""


@dataclass(slots=True)
class Synced:
    """What one sync did."""

    pages: int = 0
    downloaded: int = 0
    removed: int = 0
    new: int = 0
    restarts: int = 0

    def __str__(self) -> str:
        restarts = f", began anew {self.restarts} times" if self.restarts else ""
        return f"{self.pages} pages, {self.downloaded} downloaded, {self.new} new pictures, {self.removed} removed{restarts}"


@dataclass(frozen=True, slots=True)
class Folder:
    """What is synced, for whom, in whose name. `path_prefix` is `""` for the root."""

    tenant_id: UUID
    provider_id: UUID
    path_prefix: str
    ingest_id: UUID


@dataclass(slots=True)
class Sync:
    """One run."""

    conn: Connection[Any]
    dropbox: Dropbox
    library: Library
    folder: Folder
    done: Synced = field(default_factory=Synced)

    def __call__(self) -> Synced:
        """Page after page until there is no more. Raises DropboxError."""
        while True:
            before, began, asked_at = self._run("open_cursor").fetchone()
            try:
                page = (
                    self.dropbox.list_folder(self.folder.path_prefix)
                    if before is None
                    else self.dropbox.go_on(before)
                )
            except CursorReset:
                self._run("reset_cursor", before=before)
                self.done.restarts += 1
                continue
            self._fetch(page)
            try:
                self._keep(page, before, began or (asked_at if before is None else None), asked_at)
            except Overtaken:
                continue
            self.done.pages += 1
            if not page.has_more:
                return self.done

    def _fetch(self, page: Page) -> None:
        """The files of a page that are not in the library."""
        wanted = {
            entry["content_hash"]: entry
            for entry in _pictures(page)
            if not self.library.has(entry["content_hash"])
        }

        def fetch(entry: dict[str, Any]) -> bool:
            try:
                content = self.dropbox.download(entry)
            except NotFound:
                return False  # removed since it was listed: a later page says so
            self.library.put(entry["content_hash"], content)
            return True

        with ThreadPoolExecutor(AT_ONCE) as pool:
            self.done.downloaded += sum(pool.map(fetch, wanted.values()))

    def _keep(self, page: Page, before: str | None, began: datetime | None, asked_at: datetime) -> None:
        """One page, in one transaction."""
        there = [entry for entry in _pictures(page) if self.library.has(entry["content_hash"])]
        gone = [entry["path_lower"] for entry in page.entries if entry[".tag"] == "deleted"]
        with self.conn.transaction():
            last = not page.has_more
            moved = self._run(
                "advance_cursor", before=before, after=page.cursor, last=last, asked_at=asked_at
            )
            if moved.rowcount == 0:
                raise Overtaken
            for entry in there:
                told = {name: entry[name] for name in ("path_lower", "name", "rev", "content_hash")}
                self._run("upsert_picture", **told)
            removed = self._run("remove_pictures", paths=gone).rowcount
            if last and began is not None:
                removed += self._run("remove_unseen", began_at=began).rowcount
            new = self._complete() if last else 0
        self.done.removed += removed
        self.done.new += new

    def _complete(self) -> int:
        """All that this job brought is there; once, however often it is run."""
        row = self._run("complete_ingest").fetchone()
        if row is None:
            return 0
        context = {
            "ingest_id": str(self.folder.ingest_id),
            "provider_id": str(self.folder.provider_id),
            "pictures": row[0],
        }
        publish(self.conn, "images.ingest.completed", context, tenant=self.folder.tenant_id)
        return int(row[0])

    def _run(self, name: str, /, **values: object) -> Any:
        folder = self.folder
        scope = {
            "tenant_id": folder.tenant_id,
            "provider_id": folder.provider_id,
            "path_prefix": folder.path_prefix,
            "ingest_id": folder.ingest_id,
        }
        return run(self.conn, name, **scope, **values)


def _pictures(page: Page) -> list[dict[str, Any]]:
    return [
        entry for entry in page.entries if entry[".tag"] == "file" and entry["path_lower"].endswith(KINDS)
    ]


def folder_to_sync(connected: str, asked: str | None) -> str | None:
    """The part of the connected folder that is asked for, as the API and the tables have it: lower case, no slash at the end,
    `""` for the root. A path above the folder means all of it; None: the path lies elsewhere."""
    folder, path = connected.rstrip("/").lower(), (asked or "").rstrip("/").lower()
    if folder == path or folder.startswith(f"{path}/"):
        return folder
    return path if path.startswith(f"{folder}/") else None
