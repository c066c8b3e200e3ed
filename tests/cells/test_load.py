"""A tenant moves while jobs of two tenants come in and run: none is lost, none runs twice, the other one does not notice."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from psycopg.rows import scalar_row

from postmill import AsyncCells, Settings
from postmill.api.cell_router import CellRouter
from postmill.bind import drive
from postmill.cells import moves
from postmill.console import create_app
from postmill.domain.access import Role
from postmill.operate.keys import create_key
from postmill.store.cells import Move
from tests.cells.conftest import Two, tickets
from tests.cells.jobs import NOTED, work
from tests.support.invariants import invariants
from tests.support.workers import until, working

Ran = list[tuple[UUID, datetime]]


class Flow:
    """Enqueues for one tenant at a steady rate, and keeps what was accepted."""

    def __init__(self, cells: AsyncCells, tenant: UUID, rate: float) -> None:
        self.accepted: list[UUID] = []
        self._cells, self._tenant, self._rate = cells, tenant, rate
        self._stopped = asyncio.Event()

    async def run(self) -> None:
        """Until `stop`, by four at a time."""
        await asyncio.gather(*(self._some() for _ in range(4)))

    async def _some(self) -> None:
        clock = asyncio.get_running_loop().time
        due = clock()
        while not self._stopped.is_set():
            job = work.using(tenant=self._tenant).new()
            self.accepted.append((await self._cells.enqueue(job)).id)
            due = max(due + 4 / self._rate, clock() - 1)
            await asyncio.sleep(max(0.0, due - clock()))

    def stop(self) -> None:
        """Enqueue no more."""
        self._stopped.set()


async def moved_under_load(
    two: Two, rate: float, before: float, after: float, history: int, patience: float = 60.0
) -> tuple[Move, dict[str, list[float]]]:
    """The move, and how long jobs of the other tenant waited while it was not and while it was going on, in seconds."""
    settings = Settings(cells=two.cells)
    for conn in (two.a, two.b):
        conn.execute(NOTED)
    two.a.execute(
        "with made as (insert into postmill.job (id, tenant_id, job_type, queue, payload, priority, max_attempts,"
        " created_at) select postmill.new_id(), %s, 'work', 'default', '{}', 100, 3, now() from generate_series(1, %s)"
        " returning id) insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost)"
        " select id, %s, 'succeeded', now(), 1, 1, 0 from made",
        [two.acme, history, two.acme],
    )
    dsn = {name: cell.dsn for name, cell in two.cells.items()}
    async with (
        working(dsn["a"], work, queues={"default": 10}),
        working(dsn["b"], work, queues={"default": 10}),
        AsyncCells(settings) as cells,
    ):
        flows = [Flow(cells, two.acme, rate / 2), Flow(cells, two.other, rate / 2)]
        tasks = [asyncio.create_task(flow.run()) for flow in flows]
        await asyncio.sleep(before)
        (began,) = two.a.execute("select clock_timestamp()").fetchone() or (None,)
        id = await asyncio.to_thread(moves.begin, two.cells, "acme", "b", actor="ops")
        move = await asyncio.to_thread(moves.resume, two.cells, id, linger=0.0)
        await asyncio.sleep(after)
        for flow in flows:
            flow.stop()
        await asyncio.gather(*tasks)
        accepted = [id for flow in flows for id in flow.accepted]
        await until(lambda: len(ran(two)) >= len(accepted) or _stuck(two, accepted), patience)
    assert sorted(ran(two)) == sorted(accepted)
    here = two.b.execute("select count(*) from public.ran where tenant = %s", [two.other]).fetchone()
    assert here == (0,)
    assert two.b.execute(
        "select count(*) from postmill.outcome where tenant_id = %s", [two.acme]
    ).fetchone() == (history + len(flows[0].accepted),)
    for conn in (two.a, two.b):
        invariants(conn)
    return move, waits(two, began, move)


def ran(two: Two) -> list[UUID]:
    """What ran, as often as it did."""
    return [
        id
        for conn in (two.a, two.b)
        for id in conn.cursor(row_factory=scalar_row).execute("select id from public.ran")
    ]


def _stuck(two: Two, accepted: list[UUID]) -> bool:
    """Whether nothing waits or runs any more though not all of it ran: then waiting longer is in vain."""
    left = [tickets(conn, tenant) for conn in (two.a, two.b) for tenant in (two.acme, two.other)]
    return not any(left) and len(ran(two)) < len(accepted)


def waits(two: Two, began: Any, move: Move) -> dict[str, list[float]]:
    """From being enqueued to having run, of the other tenant's jobs."""
    found: dict[str, list[float]] = {"apart": [], "during": []}
    for at, wait in two.a.execute(
        "select j.created_at, extract(epoch from r.at - j.created_at)::float from public.ran r"
        " join postmill.any_job j on j.id = r.id where r.tenant = %s",
        [two.other],
    ):
        found["during" if began <= at <= move.ended_at else "apart"].append(wait)
    return {name: sorted(values) for name, values in found.items()}


def share(values: list[float], part: float) -> float:
    """A quantile."""
    return values[min(len(values) - 1, int(part * len(values)))] if values else 0.0


async def test_nothing_is_lost_or_runs_twice_while_a_tenant_moves(two: Two) -> None:
    move, _ = await moved_under_load(two, rate=120, before=0.3, after=0.3, history=200)
    assert move.status == "done"


async def test_a_server_finds_each_tenants_cell(two: Two) -> None:
    """By the key that a request comes with, before and after a move; neither sees anything of the other."""
    settings = Settings(cells=two.cells)
    keys = {
        name: drive(two.a, create_key(name, role, tenant=tenant)).key
        for name, role, tenant in (
            ("acme", Role.TENANT_ADMIN, "acme"),
            ("other", Role.TENANT_ADMIN, "other"),
            ("ops", Role.PLATFORM_OPERATOR, None),
        )
    }
    apps = {name: create_app(settings.in_cell(name)) for name in two.cells}
    router = CellRouter(apps, "a")
    async with AsyncExitStack() as stack:
        for app in apps.values():
            await stack.enter_async_context(app.router.lifespan_context(app))
        transport = httpx.ASGITransport(router)
        client = await stack.enter_async_context(
            httpx.AsyncClient(transport=transport, base_url="http://api.test")
        )

        async def ask(who: str, path: str, **more: Any) -> httpx.Response:
            return await client.request(
                more.pop("method", "GET"),
                f"/api/v1{path}",
                headers={"Authorization": f"Bearer {keys[who]}"},
                **more,
            )

        made = await ask("acme", "/jobs", method="POST", json={"definition_key": "work", "payload": {}})
        assert (made.status_code, made.headers["postmill-cell"]) == (201, "a"), made.text
        id = made.json()["id"]
        assert (await ask("other", f"/jobs/{id}")).status_code == 404
        move = moves.begin(two.cells, "acme", "b", actor="ops")
        await asyncio.to_thread(moves.resume, two.cells, move, linger=0.0)
        seen = await ask("acme", f"/jobs/{id}")
        if seen.status_code != 200:  # the server believed for a moment what it knew before
            assert seen.status_code in (401, 503)
            seen = await ask("acme", f"/jobs/{id}")
        assert (seen.status_code, seen.headers["postmill-cell"]) == (200, "b")
        again = await ask("acme", "/jobs", method="POST", json={"definition_key": "work", "payload": {}})
        assert (again.status_code, again.headers["postmill-cell"]) == (201, "b")
        assert (await ask("other", f"/jobs/{id}")).status_code == 404
        assert [job["id"] for job in (await ask("other", "/jobs")).json()["items"]] == []
        assert (await ask("ops", f"/jobs/{id}")).status_code == 404
        assert (await ask("ops", "/jobs?cell=b")).status_code == 401  # a key of cell a
        unknown = await ask("ops", "/jobs?cell=c")
        assert (unknown.status_code, unknown.json()["type"]) == (404, "urn:postmill:problem:unknown-cell")
        page = await client.get("/login?cell=b", headers={"accept": "text/html"})
        assert "postmill_cell=b" in page.headers["set-cookie"]


def test_both_kinds_of_away_are_told_apart(two: Two) -> None:
    """By plain SQL: a tenant that moves, and one that has moved."""
    move = moves.begin(two.cells, "acme", "b", actor="ops")
    two.a.execute("select postmill.set_gate(%s, %s, 'b', %s, array['here'])", [two.acme, "closed", move])
    for stage, state in (("closed", "PM060"), ("gone", "PM061")):
        two.a.execute("select postmill.set_gate(%s, %s, 'b', %s, array['closed'])", [two.acme, stage, move])
        for statement in (
            "select postmill.enqueue('work', '{}', %s)",
            "select postmill.publish('a.b', '{}', %s)",
        ):
            with pytest.raises(psycopg.Error) as told:
                two.a.execute(statement, [two.acme])
            assert told.value.sqlstate == state, statement
        answers = two.a.execute(
            "select status, detail from postmill.enqueue_many(array['work', 'work'], array['{}', '{}']::jsonb[],"
            " array[%s, %s]::uuid[]) order by n",
            [two.acme, two.other],
        ).fetchall()
        assert answers == [("moving" if stage == "closed" else "moved", "b"), ("created", None)]
