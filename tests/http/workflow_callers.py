"""What a caller does with workflows and batches."""

from __future__ import annotations

import pytest

from postmill.http import AsyncApiClient
from postmill.http.errors import NotFound, Refused
from postmill.shapes.workflows import NewStep, Parent, WorkflowJob
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


def _advance(api: Api) -> None:
    with api.database.connect() as conn:
        advance(conn)
