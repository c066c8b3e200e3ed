"""Jobs: the list, its completions, what is done to a selection, views and files of it."""

from __future__ import annotations

from starlette.responses import JSONResponse, RedirectResponse, Response

from postmill.console.frame.arguments import as_id, refused
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.jobs import acts
from postmill.console.jobs.columns import chosen
from postmill.console.jobs.files import FORMATS, file_of
from postmill.console.jobs.lines import lines
from postmill.console.jobs.listing import listing
from postmill.domain.access import Action
from postmill.domain.query_words import QueryError
from postmill.operate import finding, lists
from postmill.store.finding import door_note_export

router = Pages()


@router.page("/jobs", Action.JOBS_READ)
async def jobs(visit: Visit) -> Response:
    """Jobs of a query, the newest first. A pasted id or idempotency key leads to the job itself."""
    text = visit.args.text("q")
    if text and not visit.parts:
        job = await visit.see(finding.jump(text, schema=visit.schema))
        if job is not None:
            return RedirectResponse(visit.url(f"/jobs/{job}"), 303)
    payloads = visit.may(Action.PAYLOADS_READ)
    try:
        want = await visit.see(finding.wanted(text, payloads=payloads, schema=visit.schema))
    except QueryError as fault:
        job = None if visit.parts else await visit.see(finding.holder(text, schema=visit.schema))
        if job is not None:
            return RedirectResponse(visit.url(f"/jobs/{job}"), 303)
        return visit.page("jobs.html", 422, **await listing(visit, text, None, fault))
    return visit.page("jobs.html", **await listing(visit, text, want, None))


@router.page("/facets", Action.JOBS_READ)
async def facets(visit: Visit) -> Response:
    """What the term that is being typed (`term`) may become, as JSON: `[{"text", "note"}, …]`."""
    typed = visit.args.text("term")[:512]
    found = await visit.see(finding.offers(typed, schema=visit.schema))
    return JSONResponse([{"text": one.text, "note": one.note} for one in found])


@router.act("/jobs/act", Action.JOBS_READ)
async def act(visit: Visit) -> Response:
    """Does something to the chosen jobs at once (`one`: to that one alone)."""
    return await acts.act(visit)


@router.act("/jobs/export", Action.JOBS_READ)
async def export(visit: Visit) -> Response:
    """The jobs of a query as a file, at most 10,000; audited."""
    text, form = visit.form.text("q"), visit.form.one_of("format", FORMATS, "ndjson")
    payloads = visit.may(Action.PAYLOADS_READ)
    shown = chosen(visit.form, ops=visit.scope.ops, payloads=payloads)
    try:
        want = await visit.see(finding.wanted(text, payloads=payloads, schema=visit.schema))
    except QueryError as fault:
        raise refused("q", str(fault)) from None
    await visit.run(door_note_export("jobs", str(want.query), form, lists.MOST_EXPORTED, schema=visit.schema))
    found, whole = await visit.see(lists.exported(want, paths=shown.paths, schema=visit.schema))
    made = await visit.see(lines(found, shown.paths, schema=visit.schema))
    return file_of(made, shown.paths, form, whole=whole)


@router.act("/jobs/views", Action.JOBS_READ)
async def save_view(visit: Visit) -> Response:
    """Keep the list under a name."""
    name, query = visit.form.text("name"), visit.form.text("query")
    shared = visit.form.one_of("shared", ("on",), "off") == "on"
    kept = await visit.drive(lists.save_view("jobs", name, query, shared=shared, schema=visit.schema))
    said = _("The view %s is saved.") if kept.status == "saved" else _("The view %s is replaced.")
    return visit.done(said % name, visit.back())


@router.act("/jobs/views/{id}/delete", Action.JOBS_READ)
async def delete_view(visit: Visit) -> Response:
    """Delete a view of one's own; whoever hands out keys may delete shared ones of others."""
    id = as_id(visit.request.path_params["id"], "id")
    await visit.drive(lists.delete_view(id, any=visit.may(Action.KEYS_WRITE), schema=visit.schema))
    return visit.done(_("The view is deleted."), visit.back())
