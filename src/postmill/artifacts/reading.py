"""A file on its way out of the store, compared with its checksum while it is read."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

from postmill.artifacts.faults import worded
from postmill.artifacts.threads import in_thread
from postmill.domain.artifact import Artifact
from postmill.domain.errors import ArtifactDamaged

if TYPE_CHECKING:
    from postmill.artifacts.store import Store

CHUNK = 1 << 20


class Reading:
    """An open artifact, to be read once from its beginning to its end, in chunks of at most 1 MiB.

    The last chunk is only given out when size and checksum of the whole are right; else ArtifactDamaged is raised in
    its place. Every method may raise ArtifactStoreFailed.

    Attributes:
        artifact: what is known of it.
    """

    def __init__(self, store: Store, artifact: Artifact) -> None:
        self.artifact = artifact
        self._store = store
        self._sum = hashlib.sha256()
        self._size = 0
        self._rest = b""  # of a chunk, for read(n)
        self._file = store.open(artifact.id, artifact.tenant_id)
        try:
            self._next = self._more()
        except BaseException:
            self.close()
            raise

    def chunk(self) -> bytes:
        """The next one; empty at the end."""
        if self._rest:
            given, self._rest = self._rest, b""
            return given
        given = self._next
        if given:
            self._next = self._more()
        return given

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or fewer at the end; -1: all the rest."""
        parts: list[bytes] = []
        missing = size
        while missing and (part := self.chunk()):
            if 0 <= missing < len(part):
                part, self._rest = part[:missing], part[missing:]
            missing -= len(part) if missing > 0 else 0
            parts.append(part)
        return b"".join(parts)

    def __iter__(self) -> Iterator[bytes]:
        while part := self.chunk():
            yield part

    def close(self) -> None:
        """No more of it."""
        with worded("close a file", self._store.secrets):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _more(self) -> bytes:
        with worded("give a file", self._store.secrets):
            part: bytes = self._file.read(CHUNK)
        self._sum.update(part)
        self._size += len(part)
        known = self.artifact
        if not part or self._size > known.size:
            found = self._sum.hexdigest()
            if self._size != known.size or found != known.sha256:
                raise ArtifactDamaged(
                    f"the artifact {known.id} ({known.name}) was put with {known.size} bytes and SHA-256 {known.sha256};"
                    f" the store has {self._size} or more bytes with {found}"
                )
        return part


class AwaitedReading:
    """As Reading, for coroutines: the store is asked in threads."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.artifact = reading.artifact

    async def chunk(self) -> bytes:
        """The next one; empty at the end."""
        return await in_thread(self._reading.chunk)

    async def read(self, size: int = -1) -> bytes:
        """So many bytes, or fewer at the end; -1: all the rest."""
        return await in_thread(lambda: self._reading.read(size))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while part := await self.chunk():
            yield part

    async def close(self) -> None:
        """No more of it."""
        await in_thread(self._reading.close)
