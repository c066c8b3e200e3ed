"""A generation of sitemaps in a folder: all of it is there before its index is, and nothing is in the folder by halves."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from examples.homepage.directory.sitemap import File, index

INDEX = "sitemap.xml"
PREVIOUS = "sitemap.previous.xml"


def publish(folder: Path, base: str, made: Iterable[File]) -> int:
    """Write a generation; how many files it has. Those of the one before stay for readers who have its index."""
    folder.mkdir(parents=True, exist_ok=True)
    new: list[File] = []
    for file in made:
        _write(folder / file.name, file.body)
        new.append(File(file.name, b"", file.lastmod))
    body, current = index(base, new), folder / INDEX
    if not current.exists():
        _write(current, body)
    elif (old := current.read_bytes()) != body:
        _write(folder / PREVIOUS, old)
        _write(current, body)
    _clear(folder)
    return len(new)


def _write(path: Path, body: bytes) -> None:
    """What has the same bytes is left as it is."""
    if path.exists() and path.read_bytes() == body:
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _clear(folder: Path) -> None:
    """Files that neither of the two indexes names, and what a run that was killed has begun."""
    named = b"".join(path.read_bytes() for path in (folder / INDEX, folder / PREVIOUS) if path.exists())
    for path in [*folder.glob("sites-*.xml.gz"), *folder.glob(".new-*")]:
        if path.name.encode() not in named:
            path.unlink(missing_ok=True)
