"""The page Now: what is wrong, since when, whom it hurts, what may have caused it; what was changed meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from markupsafe import Markup
from starlette.responses import Response

from postmill.console.frame import shown
from postmill.console.frame.arguments import as_id, refused
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages import changed, minutes, wrong
from postmill.domain.access import Action
from postmill.operate import commands, incidents
from postmill.operate import now as model
from postmill.store.fleet import depths as read_depths
from postmill.store.now import read_changes
from postmill.store.stuck import read_stuck
from postmill.store.type_pauses import read_type_pauses

router = Pages()

OVER = 3
"""So many things that are over are told of."""

PAUSES = {
    "30m": timedelta(minutes=30),
    "1h": timedelta(hours=1),
    "4h": timedelta(hours=4),
    "24h": timedelta(days=1),
}
"""After how long a queue goes on by itself."""


@router.page("", Action.INCIDENTS_READ, tenant=False)
async def now(visit: Visit) -> Response:
    """All of it; `?incident=` (where alerts lead to) and `?queue=` narrow it down."""
    incident, queue = visit.args.id("incident"), visit.args.text("queue", None)
    seen = None
    if visit.wants("verdict", "incidents", "changes") or incident is not None:
        seen = await visit.see(model.now(incident=incident, queue=queue, schema=visit.schema))
    of_queue = queue or (seen.incidents[0].queue if incident and seen and seen.incidents else None)
    changes = counted = None
    if visit.wants("changes", "strip"):
        changes = await visit.attempt(
            _("changes of the last two hours"), read_changes(model.CHANGES, 100, schema=visit.schema)
        )
    if visit.wants("strip"):
        counted = await visit.attempt(
            _("the last hour minute by minute"), model.minutes(queue=of_queue, schema=visit.schema)
        )
    depths = []
    if seen and visit.wants("incidents") and wrong.nobody_named(seen.kin):
        depths = await visit.attempt(_("who waits in late queues"), read_depths(schema=visit.schema)) or []
    rows = [wrong.row(visit, one, seen.scenes, depths) for one in seen.kin] if seen else []
    held = await visit.read(read_type_pauses(schema=visit.schema)) if visit.wants("verdict") else []
    late = [one.incident.queue for one in rows if one.incident.kind == "sla_breach" and one.incident.queue]
    stuck = await visit.read(read_stuck(schema=visit.schema)) if visit.wants("verdict") else []
    # The verdict says so already.
    visit.notices = [one for one in visit.notices if one.about != "paused"]
    return visit.page(
        "now.html",
        seen=seen,
        situation=seen and seen.situation,
        rows=rows,
        began=wrong.began(seen.incidents) if seen else {},
        over=[] if seen is None or incident or queue else seen.over[:OVER],
        pauses_of=held,
        stuck=[one for one in stuck if one.name not in late and not incident and queue in (None, one.name)],
        late=[(name, visit.url(f"/queues/{name}")) for name in late],
        shut=[(name, visit.url(f"/queues/{name}")) for name in seen.situation.paused] if seen else [],
        fresh=wrong.called(seen.fresh) if seen else [],
        clock=lambda moment: clock(moment, visit.now),
        alone=incident is not None,
        incident=incident,
        queue=queue,
        changes=changed.rows(visit, changes or []),
        strip=None
        if counted is None
        else minutes.strip(visit, counted, changed.marks(visit, changes or []), of_queue),
        pauses=PAUSES,
        runbooks=wrong.runbooks(rows),
    )


def clock(moment: datetime, now: datetime | None) -> Markup:
    """`02:41`, with the day where it is another one; exactly on the pointer."""
    local, today = (
        moment.astimezone(UTC),
        now is not None and now.astimezone(UTC).date() == moment.astimezone(UTC).date(),
    )
    words = f"{local:%H:%M}" if today else f"{local:%Y-%m-%d %H:%M}"
    told = Markup('<time datetime="{}" title="{}">{} UTC</time>')
    return told.format(local.isoformat(timespec="milliseconds"), shown.moment(moment), words)


@router.act("/incidents/{id}/acknowledge", Action.INCIDENTS_ACT, tenant=False)
async def acknowledge(visit: Visit) -> Response:
    """Somebody takes care of it, and of what else has the same cause (`also`): nobody else is called."""
    id = as_id(visit.request.path_params["id"], "id")
    why = visit.form.text("reason", None)
    found = await visit.drive(incidents.acknowledge(id, reason=why, schema=visit.schema))
    for other in visit.form.ids("also"):
        await visit.drive(incidents.acknowledge(other, reason=why, schema=visit.schema))
    return visit.done(_("You have acknowledged: %s") % found.title, visit.back())


@router.act("/incidents/{id}/resolve", Action.INCIDENTS_ACT, tenant=False)
async def resolve(visit: Visit) -> Response:
    """It is over; what goes on being wrong comes back."""
    id = as_id(visit.request.path_params["id"], "id")
    found = await visit.drive(
        incidents.resolve(id, reason=visit.form.text("reason", None), schema=visit.schema)
    )
    return visit.done(_("Resolved: %s") % found.title, visit.back())


@router.act("/incidents/{id}/pause", Action.QUEUES_WRITE, tenant=False)
async def pause(visit: Visit) -> Response:
    """Stops handing out the jobs of the incident's queue, for a reason and as a rule for a time."""
    id = as_id(visit.request.path_params["id"], "id")
    reason = visit.form.text("reason")
    if not reason:
        raise refused(
            "reason", _("say why, for those who wonder: it stands beside the queue and in the audit log")
        )
    after = visit.form.one_of("resume", PAUSES, None)
    found = await visit.see(incidents.incident(id, schema=visit.schema))
    if found.queue is None:
        raise refused("queue", _("this incident is of no queue"))
    assert visit.now is not None
    until = None if after is None else visit.now + PAUSES[after]
    await visit.drive(commands.pause(found.queue, reason=reason, resume_at=until, schema=visit.schema))
    if until is None:
        return visit.done(_("%s is paused until somebody resumes it.") % found.queue, visit.back())
    told = _("%(queue)s is paused; it goes on by itself at %(until)s UTC.")
    return visit.done(told % {"queue": found.queue, "until": f"{until:%H:%M}"}, visit.back())
