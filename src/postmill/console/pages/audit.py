"""The audit log: who did what, with what changed, and whether it is as it was written; as a file, too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from starlette.responses import Response, StreamingResponse

from postmill.console.frame.action_words import ACTIONS, action_words
from postmill.console.frame.arguments import Arguments, as_id, refused
from postmill.console.frame.pages import Pages
from postmill.console.frame.shown import cut, short_id
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages.budgets import slugs
from postmill.console.pages.changed import is_id
from postmill.console.pages.differences import changes
from postmill.console.pages.moments import read_moment
from postmill.domain.access import Action
from postmill.domain.redaction import redacted
from postmill.operate import audit as operate
from postmill.operate import budgets, tenants
from postmill.store.audit import MAX_ID, MAX_TIME, AuditRow, LogFilter, audit_log, note_export

router = Pages()

PAGE = 50
FILE_PAGE = 500
LINKS = 200
FIELDS = ("action", "actor", "kind", "target", "result", "via", "since", "until", "tenant")
RESULTS = ("done", "denied", "refused")
VIAS = ("asked", "all", "api", "console", "cli", "sql", "upkeep")


@router.page("/audit", Action.AUDIT_READ)
async def audit(visit: Visit) -> Response:
    """The log, the newest first."""
    values = {name: visit.args.text(name) for name in FIELDS} | {
        "via": visit.args.one_of("via", VIAS, VIAS[0])
    }
    chosen = await _chosen(visit, visit.args)
    before = _place(visit.args)
    found = await visit.read(
        audit_log(before=before or (MAX_TIME, MAX_ID), most=PAGE + 1, chosen=chosen, schema=visit.schema)
    )
    shown = found[:PAGE]
    chain = None
    if visit.scope.ops:
        chain = await visit.attempt(_("the chain"), operate.check_end(LINKS, schema=visit.schema))
    older = f"{shown[-1].at.isoformat()}/{shown[-1].id}" if len(found) > PAGE else None
    return visit.page(
        "audit.html",
        rows=[
            {
                "row": row,
                "link": link_of(visit, row),
                "target": target_of(row),
                "changes": changes(_dict(row.before), _dict(row.after)),
            }
            for row in shown
        ],
        slugs=await slugs(visit, [row.tenant_id for row in shown]),
        values=values,
        results=RESULTS,
        vias=VIAS,
        actions=sorted(ACTIONS),
        filtered=any(text for name, text in values.items() if name != "via") or values["via"] != "all",
        chain=chain,
        newer=visit.same() if before else None,
        older=None if older is None else visit.same(before=older),
    )


@router.act("/audit/export", Action.AUDIT_READ)
async def export(visit: Visit) -> Response:
    """What the filter finds as NDJSON, the newest first; the export itself stands in the log, too."""
    values = {name: visit.form.text(name) for name in FIELDS}
    chosen = await _chosen(visit, visit.form)
    await visit.run(note_export({name: text for name, text in values.items() if text}, schema=visit.schema))
    name = visit.scope.tenant.slug if visit.scope.tenant else "platform"
    return StreamingResponse(
        _lines(visit, chosen),
        media_type="application/x-ndjson",
        headers={
            "Content-Disposition": f'attachment; filename="audit-{name}.ndjson"',
            "Cache-Control": "no-store",
        },
    )


@router.page("/budget-named/{name}", Action.BUDGETS_READ)
async def budget_named(visit: Visit) -> Response:
    """A budget by the name under which the log knows it."""
    found = await visit.see(
        budgets.budget(visit.request.path_params["name"], tenant=visit.args.id("tenant"), schema=visit.schema)
    )
    return Response(status_code=303, headers={"Location": visit.url(f"/budgets/{found.id}")})


def target_of(row: AuditRow) -> str | None:
    """Its name, short where it is an id."""
    if row.target is None:
        return None
    return short_id(row.target) if is_id(row.target) else cut(row.target, 60)


def link_of(visit: Visit, row: AuditRow) -> str | None:
    """Where the object is that was acted on; None: it has no page here."""
    ops, target = visit.scope.ops, row.target
    if target is None:
        return None
    match row.target_kind:
        case "job":
            return visit.url(f"/jobs/{target}")
        case "trigger" if row.action != "triggers.remove":
            return visit.url(f"/triggers/{target}")
        case "definition" if row.result == "done":
            return visit.url(f"/definitions/{target}")
        case "operation":
            return visit.url(f"/ops-log/{target}")
        case "budget":
            return visit.url(f"/budget-named/{target}", tenant=row.tenant_id)
        case "queue" if ops:
            return visit.url(f"/queues/{target}")
        case "key" | "login":
            return visit.url("/settings")
        case _:
            return None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {} if value is None else {"": value}


def _place(args: Arguments) -> tuple[datetime, UUID] | None:
    text = args.text("before")
    if not text:
        return None
    moment, _slash, id = text.partition("/")
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        raise refused("before", _("must be a place in the log")) from None
    if at.utcoffset() is None:
        raise refused("before", _("must be a place in the log"))
    return at, as_id(id, "before")


async def _chosen(visit: Visit, args: Arguments) -> LogFilter:
    """The filter of a query or a form. Raises Problem (422) for a value that is none, 404 for a tenant that is not."""
    moments = {}
    for name in ("since", "until"):
        try:
            moments[name] = read_moment(args.text(name))
        except ValueError as fault:
            raise refused(name, str(fault)) from None
    tenant = None
    if visit.scope.ops and args.text("tenant"):
        tenant = (await visit.see(tenants.tenant(args.text("tenant"), schema=visit.schema))).id
    return LogFilter(
        action=_action(args.text("action")),
        actor=args.text("actor", None),
        target_kind=args.text("kind", None),
        target=args.text("target", None),
        result=args.one_of("result", RESULTS, None),
        via=None if (via := args.one_of("via", VIAS, VIAS[0])) == "all" else via,
        since=moments["since"],
        until=moments["until"],
        tenant=tenant,
    )


def _action(text: str) -> str | None:
    """What somebody means by `types.pause`, by "Job type paused", or by `pause`: of several he has to choose."""
    if not text or "." in text:
        return text or None
    means = [one for one in sorted(ACTIONS) if text.lower() in (action_words(one).lower(), one)]
    means = means or [one for one in sorted(ACTIONS) if text.lower() in f"{action_words(one)} {one}".lower()]
    if len(means) > 1:
        raise refused("action", _("several are meant: %s") % ", ".join(means))
    return means[0] if means else text


async def _lines(visit: Visit, chosen: LogFilter) -> AsyncIterator[bytes]:
    before = (MAX_TIME, MAX_ID)
    while True:
        rows = await visit.run(audit_log(before=before, most=FILE_PAGE, chosen=chosen, schema=visit.schema))
        yield b"".join(orjson.dumps(_line(row)) + b"\n" for row in rows)
        if len(rows) < FILE_PAGE:
            return
        before = (rows[-1].at, rows[-1].id)


def _line(row: AuditRow) -> dict[str, Any]:
    fields = asdict(row) | {"before": redacted(row.before), "after": redacted(row.after)}
    return {name: value for name, value in fields.items() if value is not None}
