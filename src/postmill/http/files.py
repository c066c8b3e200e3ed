"""Content of artifacts: compared with its checksum, and kept in a file that is whole or not there."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

import httpx

from postmill.http.errors import UnexpectedAnswer

CHUNK = 1 << 16


def checked(response: httpx.Response) -> bytes:
    """The content, if it is what the header `Content-Digest` promises (RFC 9530)."""
    _compare(response, hashlib.sha256(response.content).digest())
    return response.content


class Part:
    """A file beside `path` that takes its place once all of it is there. A context manager."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(f".{path.name}.{uuid4().hex}")
        self._sum = hashlib.sha256()

    def __enter__(self) -> Self:
        self._file = self._part.open("xb")
        return self

    def write(self, chunk: bytes) -> None:
        """The next bytes."""
        self._sum.update(chunk)
        self._file.write(chunk)

    def done(self, response: httpx.Response) -> None:
        """All is there; raises UnexpectedAnswer where it is not what the response promised."""
        _compare(response, self._sum.digest())
        self._file.close()
        os.replace(self._part, self._path)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._part.unlink(missing_ok=True)


def _compare(response: httpx.Response, sum: bytes) -> None:
    said = response.headers.get("content-digest")
    if said != f"sha-256=:{base64.b64encode(sum).decode()}:":
        raise UnexpectedAnswer(f"the content of {response.url} arrived with another checksum than {said}")
