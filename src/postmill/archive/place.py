"""One place that keeps units: a folder, a bucket, or whatever else fsspec knows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from postmill.artifacts.faults import texts_in, worded
from postmill.domain.archive import MANIFEST, SOURCES, Manifest
from postmill.domain.errors import ArchiveDamaged, ArchiveFailed, ArchiveMissing

BLOCK = 1 << 23
"""Bytes that a remote store is sent, or asked for, at a time."""

_INCOMING = ".part"


class Place:
    """Folders with files. Every method blocks, and raises ArchiveFailed where the store does not do it."""

    def __init__(self, url: str, options: dict[str, Any]) -> None:
        self.secrets = texts_in(options)
        try:
            with self.trying("be opened"):
                fs, root = url_to_fs(url, **options)
        except ArchiveFailed as fault:
            if "ImportError" in str(fault) or "ModuleNotFound" in str(fault):
                raise ArchiveMissing(f"{fault}; install what the protocol of archive.url needs") from None
            raise
        self._fs: AbstractFileSystem = fs
        self._root = str(root).rstrip("/")
        self._local = isinstance(fs, LocalFileSystem)

    def trying(self, what: str) -> AbstractContextManager[None]:
        """Whatever goes wrong inside is ArchiveFailed, without the store's secrets."""
        return worded(what, self.secrets, "the cold archive", ArchiveFailed)

    def create(self, folder: str, name: str) -> Any:
        """A file to write to that nobody reads, until `accept`."""
        with self.trying(f"take {folder}/{name}"):
            if self._local:
                os.makedirs(f"{self._root}/{folder}", mode=0o700, exist_ok=True)
                return open(self._path(folder, name) + _INCOMING, "wb")
            return self._fs.open(self._path(folder, name), "wb", block_size=BLOCK)

    def accept(self, folder: str, name: str, file: Any) -> None:
        """What was written is whole and will survive a fall of the machine: it is there now."""
        with self.trying(f"take {folder}/{name}"):
            if self._local:
                file.flush()
                os.fsync(file.fileno())
                file.close()
                os.replace(self._path(folder, name) + _INCOMING, self._path(folder, name))
                for above in (folder, folder.partition("/")[0], ""):
                    _sync_folder(f"{self._root}/{above}")
            else:
                file.close()

    def discard(self, folder: str, name: str, file: Any) -> None:
        """Take back what was written, as far as the store lets us."""
        with contextlib.suppress(Exception):
            if self._local:
                os.unlink(self._path(folder, name) + _INCOMING)
                file.close()
            else:
                # Else its end would complete the upload.
                file.closed = True
                file.discard()

    def put(self, folder: str, name: str, content: bytes) -> None:
        """A small file, whole or not at all."""
        file = self.create(folder, name)
        try:
            with self.trying(f"take {folder}/{name}"):
                file.write(content)
            self.accept(folder, name, file)
        except BaseException:
            self.discard(folder, name, file)
            raise

    def open(self, folder: str, name: str) -> Any:
        """A file, to be read. Raises ArchiveDamaged where there is none."""
        with self.trying(f"give {folder}/{name}"):
            self._fs.invalidate_cache()
            try:
                return self._fs.open(self._path(folder, name), "rb", block_size=BLOCK)
            except FileNotFoundError:
                raise ArchiveDamaged(f"the archive has no file {folder}/{name}") from None

    def manifest(self, folder: str) -> Manifest:
        """What the unit in this folder is. Raises ArchiveDamaged where it is none."""
        with self.open(folder, MANIFEST) as file, self.trying(f"give {folder}/{MANIFEST}"):
            text: bytes = file.read()
        found = Manifest.decoded(text, f"{folder}/{MANIFEST}")
        if found.folder != folder:
            raise ArchiveDamaged(f"{folder}/{MANIFEST} is that of another unit, {found.folder}")
        return found

    def folders(self, source: str | None = None) -> Iterator[str]:
        """Folders of units, by table and time; those without a manifest, too."""
        for table in SOURCES if source is None else [source]:
            with self.trying("list its units"):
                self._fs.invalidate_cache()
                try:
                    found = self._fs.ls(f"{self._root}/{table}", detail=False)
                except FileNotFoundError:
                    continue
            for path in sorted(str(path).rstrip("/") for path in found):
                yield f"{table}/{path.rpartition('/')[2]}"

    def files(self, folder: str) -> list[str]:
        """Names of the files in a folder; none where there is no such folder."""
        with self.trying("list its files"):
            self._fs.invalidate_cache()
            try:
                found = self._fs.ls(f"{self._root}/{folder}", detail=False)
            except FileNotFoundError:
                return []
        return sorted(str(path).rstrip("/").rpartition("/")[2] for path in found)

    def remove(self, folder: str, name: str) -> None:
        """Clear a file away; one that is gone already is fine."""
        with self.trying(f"clear {folder}/{name} away"), contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(self._path(folder, name))

    def remove_unit(self, folder: str) -> None:
        """Clear a unit away, its manifest first: from then on it is none."""
        self.remove(folder, MANIFEST)
        for name in self.files(folder):
            self.remove(folder, name)
        if self._local:
            with contextlib.suppress(OSError):
                os.rmdir(f"{self._root}/{folder}")

    def _path(self, folder: str, name: str) -> str:
        return f"{self._root}/{folder}/{name}"


def _sync_folder(path: str) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
