"""Stores that fail, handlers that take too long, and files that are large."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from postmill import Constant, Context, job
from postmill.domain.errors import ArtifactRefused
from postmill.domain.settings_artifacts import ArtifactSettings
from tests.artifacts.support import Conn, files, rows, succeeded
from tests.support.databases import Database
from tests.support.workers import enqueue, state, until, working

AT_ONCE = Constant(0, jitter=(1, 1))
ROOT = Path(__file__).parents[2]


@job(retry=AT_ONCE, max_attempts=2)
def fails(ctx: Context, place: str) -> None:
    """The store is away at the first attempt, and back at the second."""
    if ctx.attempt == 2:
        os.unlink(place)
    with pytest.raises(ArtifactRefused):
        ctx.artifacts.put("../x", b"")
    ctx.artifacts.put("a", b"x")


async def test_a_store_that_fails_is_tried_again(database: Database, apg: Conn, tmp_path: Path) -> None:
    place = tmp_path / "in the way"
    place.write_text("")
    settings = ArtifactSettings.model_validate({"url": f"file://{place}"})
    async with working(database.dsn, fails, artifacts=settings):
        id = await enqueue(apg, "fails", f'{{"place": "{place}"}}')
        await until(lambda: succeeded(apg, id))
    ((error, message),) = await rows(
        apg, "select error_class, error_message from postmill.attempt where job_id = %s", id
    )
    assert error.endswith("ArtifactStoreFailed")
    assert message.startswith("the store of artifacts could not be opened: FileExistsError")


@job(timeout=0.2, max_attempts=1)
async def times_out(ctx: Context) -> None:
    async def pieces() -> Any:
        yield b"half"
        await asyncio.sleep(60)

    await ctx.artifacts.aput("never", pieces())


async def test_a_timeout_leaves_nothing(
    database: Database, apg: Conn, store: ArtifactSettings, folder: Path
) -> None:
    async with working(database.dsn, times_out, artifacts=store):
        id = await enqueue(apg, "times_out")
        await until(lambda: dead(apg, id))
    assert await rows(apg, "select name from postmill.artifact") == []
    assert files(folder) == []


async def dead(conn: Conn, id: UUID) -> bool:
    return await state(conn, id) == "dead_letter"


def test_100_mb_in_flat_memory(database: Database, store: ArtifactSettings) -> None:
    env = {
        **os.environ,
        "POSTMILL_DATABASE_URL": database.dsn,
        "POSTMILL_ARTIFACTS__URL": str(store.address),
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.artifacts.memory_child"],
        env=env,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 32 * 1024, done.stdout
