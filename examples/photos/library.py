"""The folder of pictures: each file is named by what is in it, and is there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from uuid import UUID


class Library:
    """The pictures of one tenant. Hosts share the folder; whoever writes a file twice writes the same."""

    def __init__(self, root: Path, tenant_id: UUID) -> None:
        self._folder = root / str(tenant_id)

    def path(self, content_hash: str) -> Path:
        """Where the file with this content is, or would be."""
        return self._folder / content_hash[:2] / f"{content_hash}.jpg"

    def has(self, content_hash: str) -> bool:
        """Whether it is there."""
        return self.path(content_hash).exists()

    def put(self, content_hash: str, content: bytes) -> None:
        """Keep a file: written beside, then moved into its place."""
        place = self.path(content_hash)
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".", delete=False) as beside:
            beside.write(content)
            beside.flush()
            os.fsync(beside.fileno())
        os.replace(beside.name, place)
