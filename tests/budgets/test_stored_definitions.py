"""Budgets and log fields of definitions that no Python function stands behind: commands, and jobs of HTTP workers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection
from structlog.testing import capture_logs

from postmill import Context, job
from postmill.bind import adrive
from postmill.operate import budgets, definitions
from postmill.telemetry.bus import Bus
from postmill.telemetry.event import JobEvent
from postmill.telemetry.events import JobCompleted, JobDeferred, JobFailed
from postmill.telemetry.metrics import render
from tests.support.api import opened
from tests.support.databases import Database
from tests.support.http_work import define_http, worker
from tests.support.http_work import job as waiting
from tests.support.programs import Programs, define
from tests.support.workers import enqueue, state, until, working

Conn = AsyncConnection[Any]
Told = list[tuple[str, object]]


def listening(bus: Bus) -> Told:
    """What is told of jobs, with their fields."""
    told: Told = []

    def note(event: JobEvent) -> None:
        told.append((event.name, event.job.fields))

    bus.subscribe(note, JobCompleted, JobDeferred, JobFailed)
    return told


async def ended(conn: Conn, job_type: str, **payload: Any) -> tuple[str, str | None]:
    """State and reason of a new job, once it is over."""
    id = await enqueue(conn, job_type, json.dumps(payload))

    async def over() -> bool:
        return await state(conn, id) in ("succeeded", "dead_letter")

    await until(over)
    row = await (await conn.execute(
        """select s.state, coalesce(o.reason, d.reason) from postmill.job_state(%s) s
             left join postmill.outcome o on o.job_id = s.id left join postmill.dead_letter d on d.id = s.id""", [[id]],
    )).fetchone()  # fmt: skip
    assert row is not None
    return row


@job
async def own(ctx: Context, item: int = 1) -> None:
    """Registered by code; an operator may say more of it."""
    ctx.log.info("at it", step=1)


async def test_a_command_and_a_type_that_an_operator_edits(
    database: Database, apg: Conn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, bus = Programs(tmp_path, monkeypatch), Bus()
    told = listening(bus)
    programs.make("ask")
    await adrive(apg, budgets.set_budget("ai", limit=5))
    made = await define(
        apg, "ask", argv_template=["ask", "{payload.item}"], budget="ai", log_fields=["item", "absent"], on_exhausted="fail",
        arg_schema={"type": "object", "properties": {"item": {"type": "integer"}, "other": {}}, "required": ["item"]},
    )  # fmt: skip
    assert (made.budget, made.log_fields) == ("ai", ["item", "absent"])
    async with working(database.dsn, own, bus=bus) as one:
        assert await ended(apg, "ask", item=7, other="unsaid") == ("succeeded", None)
        assert told == [("job_completed", {"item": 7})]
        await adrive(apg, budgets.correct("ai", 4.75, reason="before"))
        status, reason = await ended(apg, "ask", item=8)
        assert (status, "QUEUE" in str(reason)) == ("succeeded", True)
        assert programs.calls("ask") == [["7"]], "nothing was run"
        assert told[1:] == [("job_deferred", {"item": 8}), ("job_completed", {"item": 8})]
        # Of a type of the code both are an operator's to say, until released.
        with capture_logs() as lines:
            assert await ended(apg, "own", item=1) == ("succeeded", None)
        assert "item" not in lines[0]
        found = await adrive(apg, definitions.definition("own"))
        edited = await adrive(apg, definitions.edit(found.id, {"budget": "ai", "log_fields": ["item"]}))
        assert edited.edited == ["budget", "log_fields"]
        del told[:]

        async def followed() -> bool:
            await ended(apg, "own", item=2)
            return ("job_deferred", {"item": 2}) in told

        await until(followed)
        # A handler's own lines have the same fields as ours.
        await adrive(apg, budgets.set_budget("ai", limit=50))
        with capture_logs() as lines:
            assert await ended(apg, "own", item=3) == ("succeeded", None)
        (said,) = lines
        assert {name: said[name] for name in ("event", "item", "step", "job_type", "worker_id")} == {
            "event": "at it", "item": 3, "step": 1, "job_type": "own", "worker_id": one.worker_id,
        }  # fmt: skip
        assert 'postmill_budget_throttles_total{job_type="ask",queue="default",action="defer"} 1' in (
            render(one.counters).decode()
        )
        await adrive(apg, definitions.edit(made.id, {"budget": None, "log_fields": None}))
        assert (await adrive(apg, definitions.definition("ask"))).log_fields == []


async def test_jobs_of_http_workers(database: Database) -> None:
    async with opened(database) as api:
        told = listening(api.app.state.backend.desk.bus)
        await api.tenant("acme")
        await api.tenant("bolt")
        await define_http(api, "ask", "models", budget="AI", log_fields=["item"])
        acme, bolt = [await worker(api, "w", slug, job_types=["ask"]) for slug in ("acme", "bolt")]

        async def new(slug: str, item: int) -> Any:
            return await waiting(api, "ask", json.dumps({"item": item}), tenant=api.tenants[slug])

        # A budget that nobody made is an error of the definition: another attempt would find none either.
        lost = await new("acme", 0)
        assert await acme.claim() == []
        assert await state(api.owner, lost) == "dead_letter"
        assert told.pop() == ("job_failed", {"item": 0})
        await adrive(api.owner, budgets.set_budget("ai", limit=5))
        await adrive(api.owner, budgets.set_budget("ai", tenant="bolt", limit=1))
        held = (await new("acme", 1), await acme.one())[1]
        assert (
            await acme.tell("fail", held, error={"error_class": "E", "retryable": False})
        ).status_code == 200
        assert told.pop() == ("job_failed", {"item": 1})
        # One tenant's own budget ends its runs, and nobody else's.
        await adrive(api.owner, budgets.correct("ai", 0.95, tenant="bolt", reason="before"))
        deferred = [await new("bolt", n) for n in (2, 3)]
        assert await bolt.claim(max_jobs=5) == []
        assert [await state(api.owner, id) for id in deferred] == ["succeeded"] * 2
        assert told[-2:] == [("job_deferred", {"item": 3}), ("job_completed", {"item": 3})]
        await new("acme", 4)
        assert (await acme.one())["payload"] == {"item": 4}
        await adrive(api.owner, budgets.correct("ai", 0.05, tenant="bolt", reason="before"))
        stopped = await new("bolt", 5)
        assert await bolt.claim() == []
        rows = await api.rows("select reason, error_code from postmill.dead_letter where id = %s", stopped)
        assert rows == [("budget_exhausted", "budget_exhausted")]
