"""Both clients: the same operations, waiting, what they say when something is missing, and what they hold open."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from psycopg import Connection

from postmill.client import AsyncClient, Client
from postmill.client.address import find_database
from postmill.domain.errors import (
    DatabaseMissing,
    JobDidNotSucceed,
    NotFound,
    SchemaMissing,
    SettingsError,
    SomeRefused,
    UnknownJobType,
    WaitTimeout,
)
from postmill.domain.job import NewJob, Progress
from postmill.domain.lifecycle import State
from postmill.local.server import LocalServer
from tests.client.job_types import echo
from tests.support.databases import Database
from tests.support.workers import working

OPERATIONS = {
    *("enqueue", "enqueue_many", "publish", "get", "wait", "cancel", "retry", "replay", "register", "close"),
    *("start_workflow", "start_batch", "add_to_batch", "seal_batch", "open_batch", "workflow", "workflows"),
    *("workflow_graph", "cancel_workflow", "retry_workflow", "release_steps"),
}


def test_both_offer_the_same_operations() -> None:
    offered = [
        {name for name in vars(kind) if not name.startswith("_")} - {"schema", "artifacts"}
        for kind in (Client, AsyncClient)
    ]
    assert offered == [OPERATIONS, OPERATIONS]
    for name in OPERATIONS - {"close"}:
        ours, theirs = getattr(Client, name), getattr(AsyncClient, name)
        assert inspect.getdoc(ours) == inspect.getdoc(theirs)
        assert inspect.signature(ours) == inspect.signature(theirs)
        assert inspect.iscoroutinefunction(theirs)
        assert not inspect.iscoroutinefunction(ours)


async def test_every_operation_async(client: Client, dsn: str) -> None:
    async with AsyncClient(dsn) as other:
        assert await other.register([echo]) == {"echo": "unchanged"}
        answer = await other.enqueue(echo.new(1))
        assert (await other.get(answer.id)).payload == {"value": 1}
        assert len(await other.enqueue_many([echo.new(n) for n in range(300)])) == 300
        assert (await other.cancel(answer.id, reason="enough")).status == "canceled"
        replayed = await other.replay(answer.id, payload=b'{"value": 2}')
        assert replayed.status == "replayed"
        assert (await other.retry(str(answer.id))).status == "live"
        with pytest.raises(JobDidNotSucceed, match="canceled"):
            await other.wait(answer.id)
        later = await other.enqueue(echo.using(delay=3600).new(1))
        assert (await other.retry(later.id)).status == "due"
        for operation in (other.get, other.cancel, other.retry, other.replay, other.wait):
            with pytest.raises(NotFound):
                await operation(uuid4())


def test_many_are_all_or_none(client: Client, pg: Connection[Any]) -> None:
    with pytest.raises(SomeRefused, match="1 of 300 jobs were refused; job 299: unknown job type"):
        client.enqueue_many([*(echo.new(n) for n in range(299)), NewJob("ecco")])
    assert pg.execute("select count(*) from postmill.any_job").fetchone() == (0,)
    assert client.enqueue_many([]) == []


def test_an_id_that_is_none(client: Client) -> None:
    with pytest.raises(NotFound, match="a job id is a UUID"):
        client.get("17")


async def test_wait_gives_the_result(client: Client, dsn: str) -> None:
    async with AsyncClient(dsn) as other, working(dsn, echo):
        answer = await other.enqueue(echo.new({"deep": [1, "ü"]}))
        job = await other.wait(answer.id, timeout=30)
        assert (job.status, job.result, job.attempt) == (State.SUCCEEDED, {"deep": [1, "ü"]}, 1)
        # The blocking twin, in a thread, on the same job.
        assert (await asyncio.to_thread(client.wait, answer.id, timeout=5)).result == job.result


def test_wait_gives_up(client: Client) -> None:
    answer = client.enqueue(echo.new(1))
    began = time.monotonic()
    with pytest.raises(WaitTimeout, match=r"\(echo\) is still queued after 0\.2 s"):
        client.wait(answer.id, timeout=timedelta(seconds=0.2))
    assert time.monotonic() - began < 5
    with pytest.raises(WaitTimeout):
        client.wait(answer.id, timeout=0)


def test_wait_tells_progress(client: Client, pg: Connection[Any]) -> None:
    id = client.enqueue(echo.new(1)).id
    move = "with r as (delete from postmill.ready returning *) insert into postmill.running"
    pg.execute(
        f"{move} select id, %s, 1, queue, lane, priority, attempt, 1, 0, now() from r", [holder := uuid4()]
    )
    told: list[Progress] = []

    def tell(progress: Progress) -> None:
        told.append(progress)
        report(len(told) + 1)
        if len(told) == 3:
            with pg.transaction():
                pg.execute("delete from postmill.running")
                pg.execute(
                    "insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, result)"
                    " values (%s, %s, 'succeeded', now(), 1, 1, 0, '7')",
                    [id, uuid4()],
                )

    def report(done: int) -> None:
        pg.execute(
            "insert into postmill.progress values (%s, %s, 1, %s, 3, 'so far', now())"
            " on conflict (job_id) do update set done = excluded.done",
            [id, holder, done],
        )

    report(1)
    assert client.wait(id, timeout=20, on_progress=tell).result == 7
    assert told == [Progress(float(n), 3.0, "so far") for n in (1, 2, 3)]


def test_wait_for_a_job_of_which_nothing_is_kept(client: Client, pg: Connection[Any]) -> None:
    """Its type keeps failures only: it vanishes, and that is how one hears of its success."""
    id = client.enqueue(echo.new(1)).id
    gone = threading.Timer(0.2, lambda: pg.execute("delete from postmill.ready; delete from postmill.job"))
    gone.start()
    job = client.wait(id, timeout=20)
    gone.join()
    assert (job.status, job.result) == (State.SUCCEEDED, None)


def test_what_is_missing_is_said(dsn: str, empty_database: Database, tmp_path: Path) -> None:
    with Client(empty_database.dsn) as client:
        for work in (lambda: client.enqueue(echo.new(1)), lambda: client.get(uuid4())):
            with pytest.raises(SchemaMissing, match="run: postmill migrate"):
                work()
    with (
        Client(dsn.replace("/test_", "/no_test_")) as client,
        pytest.raises(DatabaseMissing, match="no_test_"),
    ):
        client.enqueue(echo.new(1))
    with Client(f"host={tmp_path}") as client, pytest.raises(DatabaseMissing, match="is the server running"):
        client.get(uuid4())
    with (
        Client(dsn) as client,
        pytest.raises(
            UnknownJobType,
            match="no job type is registered yet; wait for a worker that has it to start, or register it",
        ),
    ):
        client.enqueue(NewJob("echo"))


async def test_a_server_of_this_folder_that_has_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dsn: str
) -> None:
    """Whether the address was found in the file, or in an environment that was read from it."""
    monkeypatch.chdir(tmp_path)
    (left := tmp_path / ".postmill").mkdir()
    url = f"postgresql://postgres@/postgres?host={tmp_path}"
    (left / "postmill.env").write_text(f"POSTMILL_DATABASE_URL='{url}'\n")
    said = r"postmill.env in this folder names does not answer; start it with: postmill up \(.*socket"
    for given in (None, url):
        with Client(given) as client, pytest.raises(DatabaseMissing, match=said):
            client.get(uuid4())
    async with AsyncClient() as aclient:
        with pytest.raises(DatabaseMissing, match=said):
            await aclient.get(uuid4())
    # A server that answers, and be it with an error, runs.
    url = dsn.replace("/test_", "/no_test_")
    (left / "postmill.env").write_text(f"POSTMILL_DATABASE_URL='{url}'\n")
    with Client() as client, pytest.raises(DatabaseMissing, match="does that database exist"):
        client.get(uuid4())


async def test_what_is_missing_is_said_async(dsn: str, tmp_path: Path) -> None:
    async with AsyncClient(f"host={tmp_path}") as client:
        with pytest.raises(DatabaseMissing, match="is the server running"):
            await client.get(uuid4())
    async with AsyncClient(dsn, schema="elsewhere") as client:
        with pytest.raises(SchemaMissing):
            await client.get(uuid4())


def test_a_schema_name_is_checked(dsn: str) -> None:
    with pytest.raises(SettingsError, match="schema name"):
        Client(dsn, schema="no; drop table")


def test_connections_are_few_named_and_given_back(client: Client, database: Database) -> None:
    threads = [threading.Thread(target=client.enqueue, args=[echo.new(n)]) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ours = [backend for backend in database.backends() if backend[1] == "postmill-client"]
    assert 1 <= len(ours) <= 10
    assert {state for _, _, state, _ in ours} == {"idle"}
    client.close()
    assert client.enqueue(echo.new(1)).created  # opens again


def test_a_restart_of_the_server_costs_no_call(own_cluster: LocalServer) -> None:
    with Client(own_cluster.dsn()) as client:
        client.register([echo])
        client.enqueue(echo.new(1))
        own_cluster.restart()
        assert client.enqueue(echo.new(2)).created


async def test_a_restart_of_the_server_costs_no_call_async(own_cluster: LocalServer) -> None:
    async with AsyncClient(own_cluster.dsn()) as client:
        await client.register([echo])
        await asyncio.to_thread(own_cluster.restart)
        assert (await client.enqueue(echo.new(2))).created


def test_one_async_client_in_two_loops(dsn: str) -> None:
    client = AsyncClient(dsn)

    async def use() -> bool:
        await client.register([echo])
        created = (await client.enqueue(echo.new(1))).created
        await client.close()
        return created

    assert asyncio.run(use())
    assert asyncio.run(use())


def test_the_database_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POSTMILL_DATABASE_URL", raising=False)
    with pytest.raises(DatabaseMissing, match=r"POSTMILL_DATABASE_URL.*postmill up"):
        find_database(folder=tmp_path)
    (tmp_path / ".postmill").mkdir()
    (tmp_path / ".postmill" / "postmill.env").write_text(
        "# by postmill up\nPOSTMILL_OTHER=1\nPOSTMILL_DATABASE_URL='postgresql://left'\n"
    )
    assert find_database(folder=tmp_path) == "postgresql://left"
    (tmp_path / "postmill.toml").write_text('database_url = "postgresql://file"\n')
    assert find_database(folder=tmp_path) == "postgresql://file"
    monkeypatch.setenv("POSTMILL_DATABASE_URL", "postgresql://environment")
    assert find_database(folder=tmp_path) == "postgresql://environment"
    assert find_database("postgresql://argument", folder=tmp_path) == "postgresql://argument"
    monkeypatch.chdir(tmp_path)
    assert find_database() == "postgresql://environment"
