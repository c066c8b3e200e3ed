"""A workflow that is under way moves with its tenant: what has run counts, and the rest runs in the new cell."""

from __future__ import annotations

import asyncio

from postmill import AsyncClient, Context, Workflow, job
from postmill.cells import moves
from tests.cells.conftest import Two
from tests.support.invariants import invariants
from tests.support.workers import until, working

BEGUN = asyncio.Event()
GO_ON = asyncio.Event()
RAN: list[str] = []


def ran(ctx: Context) -> None:
    """Notes that a step ran."""
    assert ctx.workflow is not None
    RAN.append(ctx.workflow.step or "")


@job
async def first(ctx: Context) -> int:
    BEGUN.set()
    await GO_ON.wait()
    ran(ctx)
    return 3


@job
async def split(ctx: Context) -> None:
    ran(ctx)
    ctx.fan_out([page.new(n=n) for n in range(ctx.parents["first"].result)])


@job
async def page(ctx: Context, n: int) -> int:
    ran(ctx)
    return n * 10


@job
async def bind(ctx: Context) -> int:
    ran(ctx)
    return sum(one.result for one in ctx.parents.fanned_from("split"))


async def test_a_live_workflow_goes_on_in_the_new_cell(two: Two) -> None:
    flow = Workflow("book", tenant=two.acme)
    flow.add("first", first.new())
    flow.add("split", split.new(), after="first")
    flow.add("bind", bind.new(), after=["split", "first"])
    dsn = {name: cell.dsn for name, cell in two.cells.items()}
    types = (first, split, page, bind)
    async with AsyncClient(dsn["a"]) as a, AsyncClient(dsn["b"]) as b:
        async with working(dsn["a"], *types, queues={"default": 5}):
            id = (await a.start_workflow(flow)).id
            await BEGUN.wait()
            move = moves.begin(two.cells, "acme", "b", actor="ops")
            moving = asyncio.create_task(asyncio.to_thread(moves.resume, two.cells, move, linger=0.0))
            await until(lambda: moves.move(two.cells, move).step == "drain")
            GO_ON.set()
            assert (await moving).status == "done"
        assert RAN == ["first"], "what comes free while a tenant leaves runs there"
        async with working(dsn["b"], *types, queues={"default": 5}):

            async def ended() -> bool:
                return (await b.workflow(id)).finished

            await until(ended)
            assert (await b.workflow(id)).status == "succeeded"
    assert sorted(RAN) == ["bind", "first", "split", "split.1", "split.2", "split.3"]
    (result,) = two.b.execute(
        "select o.result from postmill.outcome o join postmill.any_job j on j.id = o.job_id where j.job_type = 'bind'"
    ).fetchone() or (None,)
    assert result == 30
    assert two.a.execute("select count(*) from postmill.workflow").fetchone() == (0,)
    for conn in (two.a, two.b):
        invariants(conn)
