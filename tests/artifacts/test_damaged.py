"""A file that was changed in the store is found out, and its end is never given out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from postmill.client.artifacts import Artifacts
from postmill.domain.errors import (
    ArtifactDamaged,
)
from tests.artifacts.support import BIG, files
from tests.support.databases import Database


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


def shortened(data: bytes) -> bytes:
    return data[:-1]


def lengthened(data: bytes) -> bytes:
    return data + b"x"


def flipped(data: bytes) -> bytes:
    return data[:5] + bytes([data[5] ^ 1]) + data[6:]


@pytest.mark.parametrize("change", [shortened, lengthened, flipped, None])
@pytest.mark.parametrize("size", [10, len(BIG)])
def test_a_changed_file_is_found_out(
    artifacts: Artifacts, folder: Path, change: Callable[[bytes], bytes] | None, size: int
) -> None:
    made = artifacts.put("a", BIG[:size])
    (path,) = files(folder)
    file = folder / path
    if change is None:
        file.unlink()
    else:
        file.write_bytes(change(file.read_bytes()))
    with pytest.raises(ArtifactDamaged, match="no file" if change is None else "was put with"):
        artifacts.read(made.id)
    got = b""
    try:
        with artifacts.open(made.id) as reading:
            for chunk in reading:
                got += chunk
    except ArtifactDamaged:
        assert len(got) < size  # the end is never given out
