"""Cells and moves over HTTP, by the typed client, through one server for both cells."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest

from postmill import Settings
from postmill.api.cell_router import CellRouter
from postmill.bind import drive
from postmill.cells import moves
from postmill.cells.sides import side
from postmill.console import create_app
from postmill.domain.access import Role
from postmill.http import AsyncApiClient, NewTenant
from postmill.http.errors import Conflict, Forbidden, Refused
from postmill.operate.doctor.examine import examine
from postmill.operate.doctor.finding import Finding
from postmill.operate.doctor.probe import Probe
from postmill.operate.keys import create_key
from postmill.store.cells import Move
from tests.cells.conftest import Two, enqueue
from tests.cells.test_move import killed_at
from tests.support.workers import until


@asynccontextmanager
async def serving(two: Two) -> AsyncIterator[httpx.ASGITransport]:
    """A server for both cells, in this process."""
    apps = {name: create_app(Settings(cells=two.cells).in_cell(name)) for name in two.cells}
    async with AsyncExitStack() as stack:
        for app in apps.values():
            await stack.enter_async_context(app.router.lifespan_context(app))
            app.state.backend.movers._linger = 0.0
        yield httpx.ASGITransport(CellRouter(apps, "a"))


def key(two: Two, role: Role, tenant: str | None = None) -> str:
    """A key of cell a."""
    return drive(two.a, create_key(f"{role} {tenant}", role, tenant=tenant)).key


async def test_a_tenant_is_moved_over_http(two: Two) -> None:
    job = enqueue(two.a, two.acme)
    async with (
        serving(two) as transport,
        AsyncApiClient("http://api.test", key(two, Role.SUPER_ADMIN), transport=transport) as admin,
        AsyncApiClient("http://api.test", key(two, Role.PLATFORM_OPERATOR), transport=transport) as operator,
        AsyncApiClient("http://api.test", key(two, Role.TENANT_ADMIN, "acme"), transport=transport) as acme,
    ):
        assert [one.state for one in (await operator.cells.list()).items] == ["answers", "answers"]
        assert (await operator.cells.preview("acme", "b")).blockers == []
        for refused in (operator.cells.move("acme", "b"), acme.cells.where("acme"), acme.cells.moves()):
            with pytest.raises(Forbidden):
                await refused
        with pytest.raises(Conflict, match="make a tenant for what is to move"):
            await admin.cells.move("default", "b")
        begun = await admin.cells.move("acme", "b", reason="closer")
        assert (begun.status, begun.via, begun.reason) == ("running", "api", "closer")

        async def ended() -> bool:
            return (await operator.cells.show(begun.id)).status == "done"

        await until(ended)
        done = await operator.cells.show(begun.id)
        assert (done.step, done.carried["job"]) == ("done", 1)
        assert set(done.parts) == {"checking", "locking", "carrying", "writing", "switching", "opening"}
        assert done.closed_seconds is not None
        assert [one.id async for one in admin.cells.each_move()] == [begun.id]
        assert (await admin.cells.where("acme")).cell == "b"
        assert (await acme.jobs.get(job)).id == job, "the tenant's key is good in the new cell"
        with pytest.raises(Refused, match="can only go on"):
            await admin.cells.abort(begun.id)
        with pytest.raises(Refused, match="nothing to go on with"):
            await admin.cells.resume(begun.id)
        assert (await admin.tenants.create(NewTenant(slug="florist"))).slug == "florist"
        assert [one.tenant async for one in admin.cells.each_tenant(lives_in="a")] == ["florist"]
    logged = two.a.execute(
        "select action, via, actor_type, role, reason from postmill.audit_log where action like 'tenants.move%'"
    ).fetchall()
    assert logged == [("tenants.move", "api", "api_key", "super_admin", "closer")]


async def test_the_database_goes_away_while_a_cell_is_looked_for(two: Two) -> None:
    """What goes wrong before a cell's application is asked is answered as what goes wrong in it."""
    waiting = """select pg_terminate_backend(pid) from pg_stat_activity
        where wait_event_type = 'Lock' and application_name = 'postmill server' and datname = %s"""
    headers = {"Authorization": "Bearer " + key(two, Role.OPERATOR, "acme")}
    async with (
        serving(two) as transport,
        httpx.AsyncClient(transport=transport, base_url="http://x") as client,
    ):
        with two.a.transaction():
            two.a.execute("lock table postmill.api_key in access exclusive mode")
            asking = asyncio.create_task(client.get("/api/v1/jobs", headers=headers))
            await until(lambda: two.b.execute(waiting, [two.a.info.dbname]).fetchone() is not None)
            answer = await asking
        assert (answer.status_code, answer.json()["detail"]) == (
            503,
            "the database does not answer; try again",
        )
        assert answer.json()["request_id"] == answer.headers["X-Request-Id"]
        assert (await client.get("/api/v1/jobs", headers=headers)).status_code == 200


async def test_a_move_that_was_left_goes_on(two: Two) -> None:
    """The doctor tells of it, whoever began it; a server that finds one of a server goes on with it."""
    move = moves.begin(two.cells, "acme", "b", actor=moves.By("ops", via="api"))
    killed_at(two, move, "filled")
    assert doctor(two, "moves").summary == "1 go on", "it may be about to be taken up"
    two.a.execute("update postmill.tenant_move set updated_at = now() - interval '1 minute'")
    told = doctor(two, "moves")
    assert (told.level, "nothing comes in for it" in told.summary) == ("fail", True)
    assert told.advice == f"postmill cells resume {move}, or postmill cells abort {move}"
    lock = "(hashtextextended('postmill.move:' || %s::uuid, 0))"
    two.a.execute(f"select pg_advisory_lock{lock}", [move])
    two.a.execute("update postmill.tenant_move set updated_at = now() - interval '2 minutes'")
    still = doctor(two, "moves")
    assert (still.level, "has said nothing for" in still.summary) == ("fail", True), "its mover stands still"
    assert (
        f"pg_terminate_backend({two.a.info.backend_pid}); then postmill cells resume {move}" in still.advice
    )
    two.a.execute(f"select pg_advisory_unlock{lock}", [move])
    with side(two.cells, "b", "postmill") as other:
        assert other.conn.execute("show idle_in_transaction_session_timeout").fetchone() == ("1min",)
    async with serving(two):
        await until(lambda: moves.move(two.cells, move).status == "done")
    assert doctor(two, "moves").summary == "no tenant moves"
    assert doctor(two, "cells").level == "ok"
    begun = moves.begin(two.cells, "acme", "a", actor="ops")
    asked: list[Move] = []
    with pytest.raises(ZeroDivisionError):
        moves.resume(two.cells, begun, told=asked.append, before=lambda step: 1 // (step != "draining"))
    async with serving(two):
        await asyncio.sleep(0)
    assert moves.move(two.cells, begun).step == "drain", "a command's is left to people"
    moves.abort(two.cells, begun, actor="ops")
    misplaced(two)


def misplaced(two: Two) -> None:
    """Tenants in a cell that the directory does not name, in two, and in none."""
    two.b.execute("select postmill.door_create_tenant('lost', '{}')")
    assert doctor(two, "cells").advice == "postmill cells place lost --in b"
    moves.place(two.cells, "lost", "b", actor="ops", reason="made by hand")
    assert doctor(two, "cells").level == "ok"
    (id,) = two.b.execute("select id from postmill.tenant where slug = 'lost'").fetchone() or (None,)
    two.a.execute(
        "insert into postmill.tenant (id, slug, name, created_at, updated_at) values (%s, 'lost', 'Lost', now(), now())",
        [id],
    )
    twice = doctor(two, "cells")
    assert (twice.level, twice.summary) == ("fail", "tenant lost is in cells a, b; requests go to b")
    for conn in (two.a, two.b):
        conn.execute("delete from postmill.tenant where slug = 'lost'")
    assert "tenant lost is in no cell" in doctor(two, "cells").summary


def doctor(two: Two, check: str) -> Finding:
    """One check, made from the directory's cell."""
    probe = Probe(two.a, "postmill", another=lambda: two.a, cells=two.cells)
    (found,) = examine(probe, [check]).findings
    return found
