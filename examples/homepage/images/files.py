"""Files that are whole or not there."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from uuid import UUID


def write(path: Path, data: bytes) -> None:
    """Put a file in its place at once, whoever looks or dies meanwhile. One that is there is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".part", delete=False) as made:
        try:
            made.write(data)
            made.flush()
            os.fsync(made.fileno())
            os.chmod(made.name, 0o644)  # a temporary file is its owner's only, and a web server is another
            os.replace(made.name, path)
        except BaseException:
            os.unlink(made.name)
            raise


def upload_path(folder: Path, image: UUID) -> Path:
    """Where the upload of an image is until it is processed."""
    return folder / "uploads" / str(image)


def size_path(folder: Path, checksum: str) -> Path:
    """Where a size is; named after what is in it, so that it may be kept by browsers for ever."""
    return folder / "sizes" / checksum[:2] / f"{checksum}.webp"
