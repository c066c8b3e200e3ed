"""The workflow that a job belongs to, and its graph around the job."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from postmill.console.frame.visit import Visit
from postmill.console.pages.workflows import MOST_EDGES, MOST_STEPS, drawing
from postmill.domain.workflow_view import GraphView
from postmill.store.workflows import StepOf, read_edges, read_step_of, read_steps, read_workflow


@dataclass(frozen=True, slots=True)
class Lineage:
    """A job's place in its workflow; `drawing` is None for a batch, whose jobs stand side by side."""

    of: StepOf
    drawing: str | None


async def lineage(visit: Visit, id: UUID) -> Lineage | None:
    """None: the job is in no workflow."""
    of = await visit.read(read_step_of(id, schema=visit.schema))
    if of is None:
        return None
    if of.kind == "batch":
        return Lineage(of, None)
    view = await visit.read(read_workflow(of.workflow_id, schema=visit.schema))
    if view is None:
        return None
    steps = await visit.read(read_steps(of.workflow_id, most=MOST_STEPS, schema=visit.schema))
    edges = await visit.read(read_edges(of.workflow_id, most=MOST_EDGES, schema=visit.schema))
    return Lineage(of, drawing(visit, GraphView(view, tuple(steps), tuple(edges)), own=of.no))
