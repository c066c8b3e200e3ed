"""The folder of thumbnails: each file is whole or not there, and has a name of its own, so that it never changes."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from uuid import UUID


def keep(folder: Path, site_id: UUID, content: bytes) -> str:
    """Write a thumbnail; its name within the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{site_id}-{hashlib.sha256(content).hexdigest()[:16]}.webp"
    handle, part = tempfile.mkstemp(prefix=f"{site_id}-", suffix=".part", dir=folder)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), 0o644)  # a web server reads it
        os.replace(part, folder / name)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    return name


def clear(folder: Path, site_id: UUID, but: str) -> None:
    """Take away what is left of a site's pictures before this one."""
    for path in folder.glob(f"{site_id}-*"):
        if path.name != but:
            path.unlink(missing_ok=True)
