"""A file on its way into the store: counted, bounded and summed up while it is written."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from uuid import UUID

from postmill.artifacts.faults import worded
from postmill.domain.errors import ArtifactTooLarge

if TYPE_CHECKING:
    from postmill.artifacts.store import Store


class Writing:
    """Blocks. Ends by `accept` or by `discard`; until the one, nobody can see it."""

    def __init__(self, store: Store, id: UUID, tenant_id: UUID, most: int) -> None:
        self._store = store
        self._id = id
        self._tenant_id = tenant_id
        self._most = most
        self._sum = hashlib.sha256()
        self.size = 0
        self._file = store.incoming(id)

    def write(self, chunk: bytes | bytearray | memoryview) -> None:
        """Appends. Raises ArtifactTooLarge as soon as it is too much."""
        self.size += len(chunk)
        if self.size > self._most:
            raise ArtifactTooLarge(self._most)
        self._sum.update(chunk)
        with worded("take a file", self._store.secrets):
            self._file.write(chunk)

    @property
    def sha256(self) -> bytes:
        """The checksum of what was written so far."""
        return self._sum.digest()

    def accept(self) -> None:
        """It is whole."""
        self._store.accept(self._id, self._tenant_id, self._file)

    def discard(self) -> None:
        """It is not wanted any more, accepted or not."""
        self._store.discard(self._id, self._tenant_id, self._file)
