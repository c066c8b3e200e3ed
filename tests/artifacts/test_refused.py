"""What cannot be put leaves nothing, and stores that do not work say so without their secrets."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postmill import Client
from postmill.client.artifacts import Artifacts
from postmill.domain.errors import (
    ArtifactRefused,
    ArtifactStoreFailed,
    ArtifactStoreMissing,
    ArtifactTooLarge,
)
from tests.artifacts.support import BIG, OPTIONS, URL, files
from tests.support.databases import Database


def broken() -> Iterator[bytes]:
    yield b"half"
    raise RuntimeError("the source broke")


REFUSED: list[tuple[Any, dict[str, Any], type[Exception]]] = [
    (BIG * 2, {}, ArtifactTooLarge),
    (broken(), {}, RuntimeError),
    (io.StringIO("text"), {}, ArtifactRefused),
    ([b"a", "b"], {}, ArtifactRefused),
    ([b"a", None], {}, ArtifactRefused),
    (7, {}, ArtifactRefused),
    (None, {}, ArtifactRefused),
    (Path("/nowhere/at/all"), {}, FileNotFoundError),
    (Path("/"), {}, IsADirectoryError),
    (Path("/dev/zero"), {}, ArtifactRefused),
    (b"", {"content_type": "nonsense"}, ArtifactRefused),
    (b"", {"expires_in": 0}, ArtifactRefused),
    (b"", {"expires_in": -1}, ArtifactRefused),
    (b"", {"expires_in": float("inf")}, ArtifactRefused),
    (b"", {"expires_in": "7d"}, ArtifactRefused),
]


def test_what_fails_leaves_nothing(artifacts: Artifacts, folder: Path) -> None:
    for content, options, error in REFUSED:
        with pytest.raises(error):
            artifacts.put("a", content, **options)
    for name in ("../../etc/passwd", "a\0b", ""):
        with pytest.raises(ArtifactRefused):
            artifacts.put(name, b"x")
    assert artifacts.list(None) == []
    assert not folder.exists() or files(folder) == []


def test_stores_that_do_not_work(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(URL, raising=False)
    monkeypatch.chdir(tmp_path)
    with Client(database.dsn) as client, pytest.raises(ArtifactStoreMissing, match=r"artifacts\.url"):
        client.artifacts.put("a", b"x")
    (tmp_path / "file").write_text("in the way")
    for url, options in ((f"file://{tmp_path}/file", "{}"), ("nonsense://x", '{"password": "hunter2-hunter2"}'),
                         ("ftp://user:hunter2-hunter2@127.0.0.1:1/x", '{"timeout": 1}')):  # fmt: skip
        monkeypatch.setenv(URL, url)
        monkeypatch.setenv(OPTIONS, options)
        with Client(database.dsn) as client, pytest.raises(ArtifactStoreFailed) as failed:
            client.artifacts.put("a", b"x")
        assert "hunter2" not in str(failed.value)
