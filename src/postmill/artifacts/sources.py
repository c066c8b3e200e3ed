"""What an artifact is made of, as chunks: bytes, a file, a path, or an iterator of any of them."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterable, Callable, Generator, Iterable
from typing import Any, TypeAlias

from postmill.domain.errors import ArtifactRefused

CHUNK = 1 << 20
"""Bytes that are in memory at a time, however large a file is."""

Chunk: TypeAlias = bytes | bytearray | memoryview
Content: TypeAlias = Chunk | str | os.PathLike[str] | Iterable[Chunk] | AsyncIterable[Chunk] | Any
"""What can be put: bytes, text (as UTF-8), an `os.PathLike`, a file open for reading in binary, or an iterable of bytes,
asynchronous ones too."""


def chunks(content: Content) -> Generator[Chunk]:
    """The content piece by piece; close it in the end. Blocks; a file that was open stays open.

    Raises:
        ArtifactRefused: it is nothing that can be put.
        OSError: the path cannot be read.
    """
    if isinstance(content, str):
        content = content.encode()
    if isinstance(content, bytes | bytearray | memoryview):
        view = memoryview(content).cast("B")
        return (view[start : start + CHUNK] for start in range(0, len(view), CHUNK))
    if isinstance(content, os.PathLike):
        return _of_path(content)
    read = getattr(content, "read", None)
    if callable(read):
        return _of_file(read)
    if isinstance(content, Iterable):
        return _of_pieces(content)
    raise ArtifactRefused(
        "an artifact is made of bytes, text, a path, a file open in binary, or an iterable of bytes, not of"
        f" {type(content).__name__}"
    )


def checked(piece: object) -> Chunk:
    """A piece of an iterator. Raises ArtifactRefused where it is no bytes."""
    if isinstance(piece, memoryview):
        return piece.cast("B")
    if isinstance(piece, bytes | bytearray):
        return piece
    hint = "; open it in binary mode" if isinstance(piece, str) else ""
    raise ArtifactRefused(f"a piece of an artifact is bytes, not {type(piece).__name__}{hint}")


def _of_path(path: os.PathLike[str]) -> Generator[Chunk]:
    with open(path, "rb") as file:
        # A pipe would be waited for, and a device never ends.
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ArtifactRefused(f"{os.fspath(path)!r} is no plain file")
        yield from _of_file(file.read)


def _of_file(read: Callable[[int], object]) -> Generator[Chunk]:
    while piece := read(CHUNK):
        yield checked(piece)


def _of_pieces(pieces: Iterable[object]) -> Generator[Chunk]:
    found = iter(pieces)
    try:
        yield from map(checked, found)
    finally:
        if isinstance(found, Generator):
            found.close()
