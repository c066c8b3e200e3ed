"""Stores for tests: a folder, or a piece of memory; and the settings that name them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio
from fsspec.implementations.memory import MemoryFileSystem

from postmill import Client
from postmill.client.artifacts import Artifacts
from postmill.domain.settings_artifacts import ArtifactSettings
from tests.artifacts.rounds import Told, rounds
from tests.artifacts.support import LARGEST, URL, Conn
from tests.support.api import Api, opened
from tests.support.databases import Database
from tests.support.http_work import HttpWorker, define_http, worker


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a store; `files` tells what is in it."""
    return tmp_path / "a store"


@pytest.fixture
def store(folder: Path) -> ArtifactSettings:
    """A store in that folder."""
    return settings(f"file://{folder}")


@pytest.fixture
def memory() -> Iterator[ArtifactSettings]:
    """A store in the memory of this process: as little a file system as a bucket is."""
    name = uuid4().hex
    yield settings(f"memory://{name}")
    fs = MemoryFileSystem()
    if fs.exists(f"/{name}"):
        fs.rm(f"/{name}", recursive=True)


def settings(url: str, **more: object) -> ArtifactSettings:
    return ArtifactSettings.model_validate({"url": url, **more})


@pytest.fixture
def artifacts(database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Artifacts]:
    """Those of a client, in that folder."""
    monkeypatch.setenv(URL, f"file://{folder}")
    monkeypatch.setenv("POSTMILL_ARTIFACTS__MAX_BYTES", str(LARGEST))
    with Client(database.dsn) as client:
        yield client.artifacts


@pytest_asyncio.fixture
async def api(database: Database, store: ArtifactSettings) -> AsyncIterator[Api]:
    async with opened(database, others={"artifacts": {"url": store.address, "max_bytes": LARGEST}}) as made:
        await define_http(made, "export", "exports")
        yield made


@pytest_asyncio.fixture
async def one(api: Api) -> HttpWorker:
    return await worker(api, "w", "acme", queues=["exports"])


@pytest_asyncio.fixture
async def told(database: Database, apg: Conn, store: ArtifactSettings) -> AsyncIterator[Told]:
    async with rounds(database, apg, store) as made:
        yield made
