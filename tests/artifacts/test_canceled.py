"""A cancellation leaves nothing, wherever it comes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postmill import AsyncClient
from tests.artifacts.support import URL, files
from tests.support.databases import Database


async def test_a_cancellation_leaves_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """Whether it comes while the source is waited for, or while a thread writes."""
    monkeypatch.setenv(URL, f"file://{folder}")
    asked = asyncio.Event()

    async def never() -> Any:
        yield b"half"
        asked.set()
        await asyncio.Event().wait()

    loop, go = asyncio.get_running_loop(), threading.Event()

    def slow() -> Iterator[bytes]:
        yield b"half"
        loop.call_soon_threadsafe(asked.set)
        go.wait(10)
        yield b"more"

    async with AsyncClient(database.dsn) as client:
        for source in (never(), slow()):
            asked.clear()
            go.clear()
            putting = asyncio.create_task(client.artifacts.put("a", source))
            await asyncio.wait_for(asked.wait(), 10)
            assert [path.split("/")[0] for path in files(folder)] == ["incoming"]
            assert await client.artifacts.list(None) == []
            putting.cancel()
            loop.call_soon(go.set)
            with pytest.raises(asyncio.CancelledError):
                await putting
            assert files(folder) == []
        assert await client.artifacts.list(None) == []
