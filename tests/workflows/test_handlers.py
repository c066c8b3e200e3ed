"""What handlers of steps are told, and what they add: run by a real worker."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from postmill import AsyncClient, Context, Workflow, job
from postmill.domain.errors import WorkflowRefused
from postmill.domain.limit import Limit
from tests.support.workers import until, working

SEEN: dict[str, Any] = {}


@job
async def capture(url: str) -> dict[str, Any]:
    return {"bytes": len(url)}


@job
async def compress(ctx: Context) -> int:
    parent = ctx.parents["capture"]
    assert parent.succeeded
    return int(parent.result["bytes"]) // 2


@job
def upload(ctx: Context) -> str:
    assert ctx.workflow is not None
    SEEN["upload"] = (ctx.workflow.name, ctx.workflow.step, ctx.parents.results())
    raise RuntimeError("the CDN is full")


@job
def unlink(ctx: Context) -> None:
    assert ctx.workflow is not None
    SEEN.setdefault("unlinked", []).append((ctx.workflow.role, dict(ctx.parents.results())))


@job
async def split(pages: int, ctx: Context) -> int:
    names = ctx.fan_out([render.new(page=n) for n in range(pages)])
    SEEN["names"] = names
    return pages


@job
def split_within(ctx: Context) -> None:
    with ctx.transaction() as tx:
        ctx.fan_out({"left": render.new(page=1), "right": render.new(page=2)}, collect=collect.new())
        tx.execute("select 1")


@job(isolation="process")
def split_apart(ctx: Context) -> None:
    ctx.fan_out([render.new(page=5)])


@job(limits=[Limit(2)])  # claimed by the way of limits
async def render(page: int) -> int:
    return page * 10


@job
async def collect(ctx: Context) -> int:
    assert ctx.workflow is not None
    SEEN[ctx.workflow.step or ""] = [parent.result for parent in ctx.parents.values()]
    SEEN["fanned"] = [parent.name for parent in ctx.parents.fanned_from("split")]
    return sum(parent.result for parent in ctx.parents.values() if parent.fanned_from)


@job
async def clash(ctx: Context) -> None:
    ctx.fan_out({"other": render.new(page=1)})


@job
async def alone(ctx: Context) -> None:
    assert ctx.workflow is None
    assert ctx.parents == {}
    with pytest.raises(WorkflowRefused, match="no step of a workflow"):
        ctx.fan_out([])
    SEEN["alone"] = True


TYPES = (capture, compress, upload, unlink, split, split_within, split_apart, render, collect, clash, alone)


async def test_results_rollback_and_fan_out(dsn: str, apg: psycopg.AsyncConnection[Any]) -> None:
    SEEN.clear()
    site = Workflow("site")
    site.add("capture", capture.new(url="http://a.example"), compensate=unlink.new())
    site.add("compress", compress.new(), after="capture", compensate=unlink.new())
    site.add("upload", upload.new().using(max_attempts=1), after=["compress", "capture"])
    book = Workflow("book")
    book.add("split", split.new(pages=3))
    book.add("bind", collect.new(), after="split")
    inner = Workflow("inner")
    inner.add("split", split_within.new())
    inner.add("last", collect.new(), after="split")
    apart = Workflow("apart")
    apart.add("split", split_apart.new())
    apart.add("end", collect.new(), after="split")
    broken = Workflow("broken")
    broken.add("other", clash.new())
    broken.add("mine", clash.new())
    async with AsyncClient(dsn) as client, working(dsn, *TYPES, queues={"default": 20}):
        ids = [(await client.start_workflow(flow)).id for flow in (site, book, inner, apart, broken)]
        await client.enqueue(alone.new())

        async def ended() -> bool:
            return all([(await client.workflow(id)).finished for id in ids])

        await until(ended, 40)
        views = [await client.workflow(id) for id in ids]
        graph = await client.workflow_graph(ids[2])
        letters = await (
            await apg.execute("select error_class, error_message from postmill.dead_letter order by 1")
        ).fetchall()
    assert [view.status for view in views] == ["failed", "succeeded", "succeeded", "succeeded", "failed"]
    assert SEEN["upload"] == ("site", "upload", {"capture": {"bytes": 16}, "compress": 8})
    assert SEEN["unlinked"] == [
        ("compensation", {"compress": 8}),
        ("compensation", {"capture": {"bytes": 16}}),
    ]
    assert (views[0].compensations, views[0].compensated) == (2, 2)
    assert SEEN["names"] == ["split.1", "split.2", "split.3"]
    assert SEEN["bind"] == [3, 0, 10, 20]
    assert SEEN["fanned"] is not None
    assert SEEN["split.collect"] == [10, 20]
    assert len(SEEN["last"]) == 4
    assert SEEN["end"] == [None, 50]
    assert {step.name for step in graph.steps} == {"split", "last", "left", "right", "split.collect"}
    assert ("RuntimeError", "the CDN is full") in letters
    why = [str(message) for error, message in letters if str(error).endswith("WorkflowRefused")]
    assert len(why) == 2
    assert any('the name "other" is there twice' in message for message in why)
    assert any("there is a step 'other' already" in message for message in why)
    assert SEEN["alone"]
