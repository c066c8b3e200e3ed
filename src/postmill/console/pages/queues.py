"""Queues: list and detail."""

from __future__ import annotations

from starlette.responses import Response

from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.access import Action
from postmill.operate import commands
from postmill.store.queues import read_queues

router = Pages()


@router.page("/queues", Action.QUEUES_READ, tenant=False)
async def queues(visit: Visit) -> Response:
    """All queues, the most urgent first."""
    return visit.page("queues.html", queues=await visit.read(read_queues(schema=visit.schema)))


@router.act("/queues/{queue:path}/pause", Action.QUEUES_WRITE, tenant=False)
async def pause(visit: Visit) -> Response:
    """Stop handing out its jobs."""
    name = visit.request.path_params["queue"]
    await visit.drive(commands.pause(name, reason=visit.form.text("reason", None), schema=visit.schema))
    return visit.done(_("%s is paused.") % name, visit.back())
