"""One place that keeps files: a folder, a bucket, or whatever else fsspec knows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from fsspec.spec import AbstractBufferedFile

from postmill.artifacts.faults import texts_in, worded
from postmill.artifacts.storage import INCOMING
from postmill.domain.artifact import artifact_id, is_moment, place_of
from postmill.domain.errors import ArtifactDamaged

BUCKETS = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oci", "oss", "memory"})
"""Stores without folders. Asked to make one, some would make the bucket, which the address may have misspelled."""

BLOCK = 1 << 23
"""Bytes that a remote store is sent, or asked for, at a time."""


class Store:
    """Files by the id of their artifact and the tenant that it belongs to.

    Every method blocks, and raises ArtifactStoreFailed where the store does not do it.
    """

    def __init__(self, url: str, options: dict[str, Any]) -> None:
        self.secrets = texts_in(options)
        with worded("be opened", self.secrets):
            fs, root = url_to_fs(url, **options)
        self._fs: AbstractFileSystem = fs
        self._root = str(root).rstrip("/")
        self._local = isinstance(fs, LocalFileSystem)
        protocols = (fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol
        self._folders = BUCKETS.isdisjoint(protocols)
        if self._local:
            with worded("be opened", self.secrets):
                os.makedirs(self._root, mode=0o700, exist_ok=True)

    def incoming(self, id: UUID) -> Any:
        """A file to write to that nobody reads, until `accept`."""
        with worded("take a file", self.secrets):
            self._make(f"{self._root}/{INCOMING}")
            return self._fs.open(self._incoming(id), "wb", block_size=BLOCK)

    def accept(self, id: UUID, tenant_id: UUID, file: Any) -> None:
        """What was written is whole: it goes to its place. A move, and where the store has none a copy."""
        place = self._place(id, tenant_id)
        with worded("take a file", self.secrets):
            if self._local:
                file.flush()
                os.fsync(file.fileno())  # its row must not outlive it
            file.close()
            self._make(place.rpartition("/")[0])
            if self._local:
                os.replace(self._incoming(id), place)
                _sync_folder(place.rpartition("/")[0])
            else:
                self._fs.cp_file(self._incoming(id), place)
                self._fs.rm_file(self._incoming(id))

    def discard(self, id: UUID, tenant_id: UUID, file: Any) -> None:
        """Take back what was written. What cannot be is cleared away later, by `orphans`."""
        with contextlib.suppress(Exception):
            if isinstance(file, AbstractBufferedFile):
                # Else its end would complete the upload.
                file.closed = True
                file.discard()
            else:
                file.close()
        for path in (self._incoming(id), self._place(id, tenant_id)):
            with contextlib.suppress(Exception):
                self._fs.rm_file(path)

    def open(self, id: UUID, tenant_id: UUID) -> Any:
        """The file, to be read. Raises ArtifactDamaged where there is none."""
        with worded("give a file", self.secrets):
            try:
                return self._fs.open(self._place(id, tenant_id), "rb", block_size=BLOCK)
            except FileNotFoundError:
                self._fs.invalidate_cache()
                raise ArtifactDamaged(f"the store has no file of the artifact {id}") from None

    def delete(self, id: UUID, tenant_id: UUID) -> None:
        """Clear a file away; one that is gone already is fine."""
        with worded("clear a file away", self.secrets), contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(self._place(id, tenant_id))

    def days(self) -> list[str]:
        """The days of which there are files, the first one first."""
        with worded("list its files", self.secrets):
            self._fs.invalidate_cache()
            if not self._fs.exists(self._root):
                return []
            names = [
                str(path).rstrip("/").rpartition("/")[2] for path in self._fs.ls(self._root, detail=False)
            ]
        return sorted(name for name in names if _is_day(name))

    def files_of(self, folder: str) -> Iterator[tuple[UUID, str]]:
        """Id and path of the files of a day, or of INCOMING. What does not look like ours is left alone."""
        with worded("list its files", self.secrets):
            found = self._fs.find(f"{self._root}/{folder}")
        for path in found:
            id = artifact_id(str(path).rpartition("/")[2])
            if id is not None and is_moment(id):
                yield id, str(path)

    def clear(self, path: str) -> None:
        """Clear away what `files_of` has found."""
        with worded("clear a file away", self.secrets), contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(path)

    def tidy(self, day: str, before: datetime) -> None:
        """Remove the folders of a day that are empty, where folders are things of their own."""
        if self._local and day < f"{before:%Y-%m-%d}":
            for folder, _, _ in os.walk(f"{self._root}/{day}", topdown=False):
                with contextlib.suppress(OSError):  # it is not empty
                    os.rmdir(folder)

    def _make(self, folder: str) -> None:
        if self._folders:
            self._fs.makedirs(folder, exist_ok=True)

    def _incoming(self, id: UUID) -> str:
        return f"{self._root}/{INCOMING}/{id}"

    def _place(self, id: UUID, tenant_id: UUID) -> str:
        return f"{self._root}/{place_of(id, tenant_id)}"


def _is_day(name: str) -> bool:
    try:
        datetime.strptime(name, "%Y-%m-%d")
    except ValueError:
        return False
    return True


def _sync_folder(path: str) -> None:
    """The name, too, must be on the disk before the row is."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
