"""Workflows and batches: the list, and one with its graph, its steps and what can be done to it."""

from __future__ import annotations

from uuid import UUID

from starlette.responses import Response

from postmill.api.problems import not_found
from postmill.client import workflow_care as care
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.workflow.drawing import graph
from postmill.console.workflow.undone import undone
from postmill.domain.access import Action
from postmill.domain.graph import Node, labels
from postmill.domain.workflow_view import KINDS, STATUSES, GraphView
from postmill.store.console import tenant_slugs
from postmill.store.workflows import read_edges, read_steps, read_workflow

router = Pages()

PAGE = 50
STEPS = 100
MOST_STEPS, MOST_EDGES = 10_000, 100_000
"""What one drawing reads; a batch may be larger, and is drawn from its first jobs."""


@router.page("/workflows", Action.JOBS_READ)
async def workflows(visit: Visit) -> Response:
    """All, the newest first; `status` and `kind`: only those."""
    before = visit.args.id("after")
    status = visit.args.one_of("status", ("", *STATUSES), "") or None
    kind = visit.args.one_of("kind", ("", *KINDS), "") or None
    found = await visit.see(
        care.workflows(visit.schema, kind=kind, status=status, before=before, limit=PAGE + 1)
    )
    shown = found[:PAGE]
    tenants = [one.tenant_id for one in shown] if visit.scope.ops else []
    return visit.page(
        "workflows.html",
        found=shown,
        only=status,
        statuses=STATUSES,
        slugs=await visit.read(tenant_slugs(tenants, schema=visit.schema)) if tenants else {},
        older=visit.same(after=shown[-1].id) if len(found) > PAGE else None,
        paged=before is not None,
    )


@router.page("/workflows/{id:uuid}", Action.JOBS_READ)
async def workflow(visit: Visit) -> Response:
    """One: how far it is, its graph, its steps."""
    found = await _found(visit, visit.request.path_params["id"])
    after = visit.args.whole("after", 0, most=2**31 - 1)
    names = labels(found.steps)
    listed = [step for step in found.steps if step.no > after][: STEPS + 1]
    return visit.page(
        "workflow.html",
        flow=found.workflow,
        drawing=drawing(visit, found),
        steps=listed[:STEPS],
        names=names,
        undone=undone(found.steps, names),
        older=visit.same(after=listed[STEPS - 1].no) if len(listed) > STEPS else None,
        paged=after > 0,
    )


@router.act("/workflows/{id:uuid}/cancel", Action.JOBS_CANCEL)
async def cancel(visit: Visit) -> Response:
    """Cancels the whole."""
    id: UUID = visit.request.path_params["id"]
    await _found(visit, id, whole=False)
    done = await visit.drive(care.cancel_workflow(visit.schema, id, reason=visit.form.text("reason", None)))
    if done.status == "canceled":
        return visit.done(_("Canceled; what runs was asked to stop."), visit.url(f"/workflows/{id}"))
    return visit.done(
        _("Its steps were over; nothing was done."), visit.url(f"/workflows/{id}"), kind="warning"
    )


@router.act("/workflows/{id:uuid}/retry", Action.JOBS_RETRY)
async def retry(visit: Visit) -> Response:
    """Runs again what did not succeed."""
    id: UUID = visit.request.path_params["id"]
    await _found(visit, id, whole=False)
    done = await visit.drive(care.retry_workflow(visit.schema, id, confirm=True))
    n = sum(step.status == "replayed" for step in done)
    if n:
        return visit.done(_("%(n)d steps run again.") % {"n": n}, visit.url(f"/workflows/{id}"))
    return visit.done(_("Nothing of it can run again."), visit.url(f"/workflows/{id}"), kind="warning")


@router.act("/workflows/{id:uuid}/release", Action.JOBS_RETRY)
async def release(visit: Visit) -> Response:
    """Lets all held steps go on."""
    id: UUID = visit.request.path_params["id"]
    await _found(visit, id, whole=False)
    n = await visit.drive(care.release_steps(visit.schema, id, reason=visit.form.text("reason", None)))
    return visit.done(_("%(n)d steps go on.") % {"n": n}, visit.url(f"/workflows/{id}"))


def drawing(visit: Visit, found: GraphView, own: int | None = None) -> str:
    """Its graph; a box of one step leads to its job, others to those jobs in the list."""

    def link(node: Node) -> str | None:
        if len(node.steps) == 1:
            job = node.steps[0].job_id
            return None if job is None else visit.url(f"/jobs/{job}")
        return visit.url("/jobs", q=f"workflow:{found.workflow.id}")

    return graph(found.steps, found.edges, title=found.workflow.name, link=link, own=own)


async def _found(visit: Visit, id: UUID, *, whole: bool = True) -> GraphView:
    schema = visit.schema
    view = await visit.read(read_workflow(id, schema=schema))
    if view is None:
        raise not_found("workflow")
    if not whole:
        return GraphView(view, (), ())
    steps = await visit.read(read_steps(id, most=MOST_STEPS, schema=schema))
    edges = await visit.read(read_edges(id, most=MOST_EDGES, schema=schema))
    return GraphView(view, tuple(steps), tuple(edges))
