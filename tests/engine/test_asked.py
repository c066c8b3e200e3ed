"""What operators ask of workers: to claim nothing more, to claim again, to end; and what lost ones held."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from psycopg import AsyncConnection, Connection

from postmill import job
from postmill.bind import adrive, drive
from postmill.domain.errors import NotFound
from postmill.operate import workers
from postmill.operate.workers import WorkerRefused
from postmill.store.workers import WorkerView
from tests.support.databases import Database
from tests.support.sessions import WorkerSession, rows, states
from tests.support.workers import enqueue, state, until, working

Conn = AsyncConnection[Any]
go = asyncio.Event()


@job(name="held")
async def held() -> None:
    await go.wait()


@job(name="broken", max_attempts=1)
async def broken() -> None:
    raise ValueError("the wheel is off")


async def test_drain_resume_stop(apg: Conn, database: Database) -> None:
    """What runs goes on; what waits is left to others; the worker ends by itself when it has nothing left."""
    go.clear()
    async with working(database.dsn, held, broken, queues={"default": 1}) as worker:
        bad = await enqueue(apg, "broken")
        await until(lambda: _is(apg, bad, "dead_letter"))
        first = await enqueue(apg, "held")
        await until(lambda: _is(apg, first, "running"))
        await adrive(apg, workers.ask(worker.worker_id, "drain", reason="new disk", actor_id="ann"))
        seen = await _seen(apg, worker.worker_id, lambda one: one.draining_since is not None)
        assert (seen.state, seen.asked, seen.asked_by, seen.asked_reason) == (
            "draining",
            "drain",
            "ann",
            "new disk",
        )
        assert seen.full_since is not None
        assert seen.report is not None
        assert seen.report["last_error"]["message"] == "the wheel is off"
        assert seen.report["memory_bytes"] > 1 << 20
        assert abs(seen.skew_seconds or 9) < 2
        second = await enqueue(apg, "held")
        go.set()
        await until(lambda: _is(apg, first, "succeeded"))
        assert await state(apg, second) == "queued"
        await adrive(apg, workers.ask(worker.worker_id, "resume"))
        await until(lambda: _is(apg, second, "succeeded"))
        go.clear()
        third = await enqueue(apg, "held")
        await until(lambda: _is(apg, third, "running"))
        await adrive(apg, workers.ask(worker.worker_id, "stop"))
        await _seen(apg, worker.worker_id, lambda one: one.draining_since is not None)
        assert not worker._draining.is_set()
        go.set()
        await until(worker._draining.is_set)
    ended = await adrive(apg, workers.worker(worker.worker_id))
    assert (ended.state, ended.clean) == ("stopped", True)
    assert await state(apg, third) == "succeeded"
    with pytest.raises(WorkerRefused, match="stopped cleanly"):
        await adrive(apg, workers.ask(worker.worker_id, "drain"))
    log = await (
        await apg.execute(
            "select action, actor_id from postmill.audit_log where target_kind = 'worker' order by id"
        )
    ).fetchall()
    assert [action for action, _ in log] == ["workers.drain", "workers.resume", "workers.stop"]
    assert log[0][1] == "ann"


def test_what_a_lost_worker_held_is_taken_back(pg: Connection[Any]) -> None:
    """At once, though nobody else lives; never while its lease holds; of no other session."""
    pg.execute(
        """select * from postmill.register_job_types('[{"key": "plain", "max_attempts": 2, "replay_class": "ask"}]')"""
    )
    ids = [
        row[0]
        for row in pg.execute("select postmill.enqueue('plain', '{}') from generate_series(1, 3)").fetchall()
    ]
    lost, other = WorkerSession(pg), WorkerSession(pg)
    mine = [one.id for one in lost.claim(2)]
    others = [one.id for one in other.claim(1)]
    told = drive(pg, workers.held(lost.holder))
    assert {(one.id, one.replay_class, one.attempt) for one in told} == {(id, "ask", 1) for id in mine}
    with pytest.raises(WorkerRefused, match="would run twice"):
        drive(pg, workers.rescue(lost.holder))
    lost.die()
    done = drive(pg, workers.rescue(lost.holder, reason="the host burns"))
    assert {(one.id, one.verdict) for one in done.jobs} == {(id, "scheduled") for id in mine}
    assert states(pg, ids) == dict.fromkeys(mine, "scheduled") | dict.fromkeys(others, "running")
    assert drive(pg, workers.rescue(lost.holder)).jobs == []
    rows(pg, "workers/ask_worker", other.holder, "drain", None, None, None)
    with pytest.raises(WorkerRefused, match="its lease ended"):
        drive(pg, workers.ask(lost.holder, "resume"))
    with pytest.raises(NotFound, match="there is no worker 'nobody'"):
        drive(pg, workers.ask("nobody", "drain"))


async def _is(conn: Conn, id: Any, wanted: str) -> bool:
    return await state(conn, id) == wanted


async def _seen(conn: Conn, name: str, true: Any) -> WorkerView:
    found: list[WorkerView] = []

    async def look() -> bool:
        found[:] = [await adrive(conn, workers.worker(name))]
        return bool(true(found[0]))

    await until(look)
    return found[0]
