"""Over real sockets: the client that blocks on a server below a path, and connections that are cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from postmill.bind import drive
from postmill.domain.access import Role
from postmill.http import (
    ApiClient,
    AsyncApiClient,
    Conflict,
    JobError,
    NotFound,
    Refused,
    Unauthorized,
    Unreachable,
)
from postmill.operate.definitions import create
from postmill.operate.keys import create_key
from tests.http.relay import Relay
from tests.support.databases import Database
from tests.support.ports import unused_port
from tests.support.served import served


@dataclass
class Place:
    """A server, keys for it, and its database."""

    url: str
    key: str
    worker_key: str
    database: Database

    def jobs(self) -> int:
        """How many there are."""
        with self.database.connect() as conn:
            row = conn.execute("select count(*) from postmill.job").fetchone()
        assert row is not None
        found: int = row[0]
        return found

    @asynccontextmanager
    async def cutting(self, cuts: int) -> AsyncIterator[str]:
        """The URL of a way to it on which so many answers get lost."""
        async with Relay(urlsplit(self.url).port or 80, cuts=cuts) as relay:
            yield relay.url
        assert relay.cuts == 0


@asynccontextmanager
async def place(database: Database, folder: Path, **server: object) -> AsyncIterator[Place]:
    with database.connect() as conn:
        drive(conn, create({"key": "thumb", "kind": "http", "queue": "media"}))
        key = drive(conn, create_key("one", Role.SUPER_ADMIN)).key
        worker_key = drive(conn, create_key("two", Role.WORKER)).key
    async with served(database.dsn, server=server, artifacts={"url": folder.as_uri()}) as url:
        yield Place(url, key, worker_key, database)


async def test_the_client_that_blocks(database: Database, tmp_path: Path) -> None:
    async with place(database, tmp_path / "store", root_path="/tools/jobs") as there:
        await asyncio.to_thread(_journey, there, tmp_path)


def _journey(there: Place, folder: Path) -> None:
    url = f"{there.url}/tools/jobs/"
    with ApiClient(url, there.key) as api, ApiClient(url, there.worker_key) as worker:
        made = [api.jobs.enqueue("thumb", {"n": n}) for n in range(5)]
        assert [job.id for job in api.jobs.each(limit=2)] == [job.id for job in reversed(made)]
        first = api.jobs.list(limit=2, offset=1)
        assert [job.id for job in first.items] == [made[3].id, made[2].id]
        assert [job.id for job in api.jobs.each(limit=2, offset=1)] == [job.id for job in reversed(made[:4])]

        held = worker.work.claim("w", queues=["media"]).jobs[0]
        (folder / "in").write_bytes(b"\0" * 200_000)
        kept = worker.work.put_artifact(held.job_id, "zeros", folder / "in", fence=held.fence)
        api.artifacts.save(folder / "out", kept.id)
        assert (folder / "out").read_bytes() == (folder / "in").read_bytes()
        assert worker.work.complete(held.job_id, held.fence).status == "succeeded"
        assert worker.work.complete(held.job_id, held.fence).status == "succeeded"

        with pytest.raises(Conflict, match="fence"):
            worker.work.fail(held.job_id, "A" * 32, JobError(error_class="E"))
        with pytest.raises(NotFound) as missing:
            api.jobs.get(kept.id)
        assert (missing.value.status, missing.value.kind) == (404, "not-found")
        assert missing.value.request_id
        with pytest.raises(Refused) as refused:
            api.jobs.list(limit=1000)
        assert [one.at for one in refused.value.errors] == ["query/limit"]
        assert "query/limit" in str(refused.value)
        api.jobs.cancel(made[4].id)
        with pytest.raises(Conflict) as ended:
            api.jobs.cancel(made[4].id)
        assert ended.value.kind == "job-finished"
    with ApiClient(url, "pm_no_key_of_ours") as api, pytest.raises(Unauthorized):
        api.jobs.list()


async def test_a_lost_answer_makes_no_second_job(database: Database, tmp_path: Path) -> None:
    """The server has committed when the connection breaks: sent again, the request is answered again."""
    async with place(database, tmp_path) as there:
        async with there.cutting(2) as url, AsyncApiClient(url, there.key) as api:
            made = await api.jobs.enqueue("thumb", {"n": 1})
            assert (await api.jobs.get(made.id)).payload == {"n": 1}
        async with there.cutting(1) as url:
            await asyncio.to_thread(_enqueue, url, there.key)
        assert there.jobs() == 2


async def test_a_secret_whose_answer_was_lost_is_not_made_twice(database: Database, tmp_path: Path) -> None:
    async with (
        place(database, tmp_path) as there,
        there.cutting(1) as url,
        AsyncApiClient(url, there.key) as api,
    ):
        with pytest.raises(Conflict) as lost:
            await api.keys.create("third", Role.PLATFORM_VIEWER)
        assert lost.value.kind == "answer-not-kept"
        assert [key.name for key in (await api.keys.list()).items] == ["third", "two", "one"]


def _enqueue(url: str, key: str) -> None:
    with ApiClient(url, key) as api:
        api.jobs.enqueue("thumb", {"n": 2})


async def test_a_claim_is_never_sent_twice(database: Database, tmp_path: Path) -> None:
    async with place(database, tmp_path) as there:
        async with AsyncApiClient(there.url, there.key) as api:
            for n in range(2):
                await api.jobs.enqueue("thumb", {"n": n})
        async with there.cutting(1) as url, AsyncApiClient(url, there.worker_key) as worker:
            with pytest.raises(Unreachable) as lost:
                await worker.work.claim("w", queues=["media"])
            assert lost.value.sent
            assert len((await worker.work.claim("w", queues=["media"], max_jobs=2)).jobs) <= 2


@pytest.mark.parametrize("retry_for", [0, 0.2])
async def test_nobody_there(retry_for: float) -> None:
    async with AsyncApiClient(f"http://127.0.0.1:{unused_port()}", "k", retry_for=retry_for) as api:
        with pytest.raises(Unreachable, match=r"GET /api/v1/jobs: ConnectError: .*; it was not done") as lost:
            await api.jobs.list()
        assert not lost.value.sent
