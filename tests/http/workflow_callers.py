"""What a caller does with workflows and batches."""

from __future__ import annotations

import pytest

from postmill.http import (
    AsyncApiClient,
    FannedJob,
    FanOut,
    JobError,
    NewDefinition,
    NewStep,
    Parent,
    WorkflowJob,
)
from postmill.http.errors import Conflict, NotFound, Refused
from postmill.shapes.work import ClaimedJob
from tests.support.api import Api
from tests.support.flows import advance


async def workflows(admin: AsyncApiClient, api: Api) -> None:
    undo = WorkflowJob(definition_key="thumb", payload={"undo": True})
    steps = [
        NewStep(name="upload", definition_key="thumb", after=[Parent(step="capture", failure="hold")]),
        NewStep(name="capture", definition_key="thumb", compensate=undo, delay_seconds=3600.0),
    ]
    made = await admin.workflows.start("site", steps, key="site:1", on_finish=undo)
    assert made.created
    assert not (await admin.workflows.start("site", steps, key="site:1")).created
    shown = await admin.workflows.get(made.id)
    assert [(node.name, node.state) for node in shown.nodes] == [
        ("capture", "scheduled"),
        ("upload", "blocked"),
    ]
    assert [(edge.parent, edge.child, edge.policy) for edge in shown.edges] == [(1, 2, "hold")]
    assert (await admin.workflows.get(made.id, graph=False)).nodes == []
    job = shown.nodes[0].job_id
    assert job is not None
    await admin.jobs.cancel(job)
    _advance(api)
    assert (await admin.workflows.get(made.id)).status == "held"
    assert (await admin.workflows.release(made.id, ["upload"], reason="by hand")).released == 1
    _advance(api)
    done = await admin.workflows.cancel(made.id, reason="no more")
    assert (done.status, done.jobs) == ("canceled", 1)
    _advance(api)
    assert (await admin.workflows.get(made.id)).status == "canceled"
    retried = await admin.workflows.retry(made.id)
    assert sorted((step.name, step.status) for step in retried.items) == [
        ("capture", "replayed"),
        ("upload", "replayed"),
    ]
    await admin.workflows.cancel(made.id)
    batch = await admin.workflows.start_batch("letters", [WorkflowJob(definition_key="thumb")], open=True)
    assert (await admin.workflows.add(batch.id, [WorkflowJob(definition_key="thumb")])).total == 2
    assert (await admin.workflows.seal(batch.id)).sealed
    with pytest.raises(Refused, match="sealed"):
        await admin.workflows.add(batch.id, [WorkflowJob(definition_key="thumb")])
    await admin.workflows.cancel(batch.id)
    listed = await admin.workflows.list(kind="batch")
    assert [one.name for one in listed.items] == ["letters"]
    assert [one.name async for one in admin.workflows.each(limit=1)] == ["letters", "site"]
    circle = [NewStep(name="a", definition_key="thumb", after=[Parent(step="a")])]
    with pytest.raises(Refused, match="circle: a → a"):
        await admin.workflows.start("circle", circle)
    with pytest.raises(Refused, match="thum"):
        await admin.workflows.start("unknown", [NewStep(name="a", definition_key="thum")])
    with pytest.raises(NotFound):
        await admin.workflows.get(job)


async def steps_over_http(admin: AsyncApiClient, worker: AsyncApiClient, api: Api) -> None:
    """Workers in other languages read what parents gave, add steps, and give what children read."""
    for key in ("shoot", "press"):
        schema = {"type": "object", "properties": {"page": {"type": "integer"}}}
        await admin.definitions.create(
            NewDefinition(key=key, kind="http", queue="press", max_attempts=1, arg_schema=schema)
        )

    async def claimed(n: int = 1) -> dict[str | None, ClaimedJob]:
        _advance(api)
        jobs = (await worker.work.claim("press@1", queues=["press"], max_jobs=10)).jobs
        assert len(jobs) == n
        return {job.workflow.step if job.workflow else None: job for job in jobs}

    undo = WorkflowJob(definition_key="shoot", payload={"undo": True})
    steps = [
        NewStep(name="shoot", definition_key="shoot", compensate=undo),
        NewStep(name="split", definition_key="press", after=[Parent(step="shoot")]),
        NewStep(name="bind", definition_key="press", after=[Parent(step="split", failure="continue")]),
        NewStep(name="sell", definition_key="press", after=[Parent(step="bind")]),
    ]
    made = await admin.workflows.start("book", steps)
    plain = await admin.jobs.enqueue("shoot", tags=["alone"])
    jobs = await claimed(2)
    alone, shoot = jobs[None], jobs["shoot"]
    assert (alone.job_id, alone.workflow) == (plain.id, None)
    with pytest.raises(NotFound, match="in no workflow"):
        await worker.work.workflow(alone.job_id, alone.fence)
    with pytest.raises(Refused, match="no step of a workflow"):
        await worker.work.complete(alone.job_id, alone.fence, fan_out=FanOut(jobs=[]))
    await worker.work.complete(alone.job_id, alone.fence)
    assert (await worker.work.workflow(shoot.job_id, shoot.fence)).parents == []
    await worker.work.complete(shoot.job_id, shoot.fence, {"bytes": 7})
    with pytest.raises(Conflict):
        await worker.work.workflow(shoot.job_id, shoot.fence)

    split = (await claimed())["split"]
    told = await worker.work.workflow(split.job_id, split.fence)
    assert (told.id, told.name, told.kind, told.role, told.step) == (
        made.id, "book", "workflow", "step", "split",
    )  # fmt: skip
    assert (told.total, told.succeeded, told.results()) == (4, 1, {"shoot": {"bytes": 7}})
    one = FannedJob(definition_key="press", payload={"page": 1})
    two = FannedJob(definition_key="press", payload={"page": 2}, name="back")
    last = FannedJob(definition_key="press", name="pages")
    for wrong, why in (
        ([FannedJob(definition_key="press", name="bind")], '"bind" is there twice'),
        ([FannedJob(definition_key="press", name="split")], "'split' already"),
        ([two, two], "'back' already"),
        ([FannedJob(definition_key="pres")], "unknown_type: pres"),
        ([FannedJob(definition_key="press", payload={"page": "one"})], "#/page"),
        ([one.model_copy(update={"payload": {"page": n}}) for n in range(9_997)], "more than 10000"),
    ):
        with pytest.raises(Refused, match=why):
            await worker.work.complete(split.job_id, split.fence, fan_out=FanOut(jobs=wrong))
    assert (await admin.workflows.get(made.id)).total == 4
    fan = FanOut(jobs=[one, two], collect=last, parent_failure="continue")
    done = await worker.work.complete(split.job_id, split.fence, 2, fan_out=fan)
    assert done.steps == ["split.1", "back", "pages"]
    assert await worker.work.complete(split.job_id, split.fence, 2, fan_out=fan) == done

    pages = await claimed(2)
    await worker.work.complete(pages["split.1"].job_id, pages["split.1"].fence, "page one")
    back = pages["back"]
    error = JobError(error_class="Torn", message="the page is torn", retryable=False)
    assert (await worker.work.fail(back.job_id, back.fence, error)).status == "dead_letter"
    end = (await claimed())["pages"]
    parents = (await worker.work.workflow(end.job_id, end.fence)).parents
    assert [(one.name, one.status, one.result, one.fanned_from) for one in parents] == [
        ("split.1", "succeeded", "page one", "split"),
        ("back", "failed", None, "split"),
    ]
    await worker.work.complete(end.job_id, end.fence, "all pages")
    bind = (await claimed())["bind"]
    told = await worker.work.workflow(bind.job_id, bind.fence)
    assert told.results() == {"split": 2, "split.1": "page one", "pages": "all pages"}
    await worker.work.complete(bind.job_id, bind.fence)
    sell = (await claimed())["sell"]
    await worker.work.fail(sell.job_id, sell.fence, error)
    back = (await claimed())[None]
    told = await worker.work.workflow(back.job_id, back.fence)
    assert (told.role, told.verdict, told.results()) == ("compensation", "failed", {"shoot": {"bytes": 7}})
    with pytest.raises(Refused, match="no step"):
        await worker.work.complete(back.job_id, back.fence, fan_out=fan)
    await worker.work.complete(back.job_id, back.fence)
    _advance(api)
    assert (await admin.workflows.get(made.id, graph=False)).status == "failed"


def _advance(api: Api) -> None:
    with api.database.connect() as conn:
        advance(conn)
