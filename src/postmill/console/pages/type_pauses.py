"""Pausing and resuming a job type, from wherever it is met: its own page, that of its errors, of its queue, the page Now."""

from __future__ import annotations

from datetime import timedelta

from starlette.responses import Response

from postmill.console.frame.arguments import refused
from postmill.console.frame.pages import Pages
from postmill.console.frame.pauses import paused_until
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages.error_acts import length
from postmill.domain.access import Action
from postmill.operate.pausing import pause_type, resume_type

router = Pages()


@router.act("/definition-pause/{key:path}", Action.QUEUES_WRITE, tenant=False)
async def pause(visit: Visit) -> Response:
    """Hold back the jobs of a type, by default for an hour."""
    reason = visit.form.text("reason", None)
    if reason is None:
        raise refused("reason", _("say why: whoever is on call next reads it"))
    resume_at = None
    if visit.form.text("for") != "never":
        resume_at = await visit.moment() + timedelta(seconds=length(visit, "for", "1h"))
    name = await visit.drive(
        pause_type(visit.request.path_params["key"], reason=reason, resume_at=resume_at, schema=visit.schema)
    )
    said = paused_until(name, resume_at, visit.now)
    return visit.done(_("%s; what runs goes on.") % said, visit.back())


@router.act("/definition-resume/{key:path}", Action.QUEUES_WRITE, tenant=False)
async def resume(visit: Visit) -> Response:
    """Its jobs run again."""
    name = await visit.drive(resume_type(visit.request.path_params["key"], schema=visit.schema))
    return visit.done(_("%s runs again.") % name, visit.back())
