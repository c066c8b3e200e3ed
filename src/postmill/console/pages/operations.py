"""Bulk operations: the list, one of them, and the wizard that begins one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast
from uuid import UUID

from starlette.responses import RedirectResponse, Response

from postmill.api.problems import Problem, not_found
from postmill.console.bulk import impact
from postmill.console.bulk.progress import Line
from postmill.console.bulk.undo import TooLate, undo
from postmill.console.bulk.wizard import Wizard
from postmill.console.bulk.words import LABELS, STEPS, WHAT, sentence
from postmill.console.frame.pages import Pages
from postmill.console.frame.shown import first_upper, seconds
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.access import Action
from postmill.domain.errors import InvalidValue, NotFound, UnknownQueue
from postmill.domain.query_words import QueryError
from postmill.operate import bulk
from postmill.operate import operations as acts
from postmill.store.bulk_preview import BulkPreview
from postmill.store.console import tenant_slugs
from postmill.store.operations import Operation
from postmill.store.queues import read_queue_names

router = Pages()

PAGE = 50
ITEMS = 100
WAITING = frozenset(("scheduled", "queued", "blocked", "retrying"))
VERBS: tuple[acts.Verb, ...] = ("pause", "resume", "approve", "abort")


@router.page("/ops-log", Action.DEAD_READ)
async def operations(visit: Visit) -> Response:
    """All, the newest first; `open`: only those that have not ended."""
    before, only = visit.args.id("after"), visit.args.one_of("open", ("on",), "") == "on"
    found = await visit.see(acts.operations(before=before, most=PAGE + 1, open=only, schema=visit.schema))
    shown = found[:PAGE]
    return visit.page(
        "operations.html",
        lines=[Line.of(op, visit.now) for op in shown],
        slugs=await _slugs(visit, shown),
        only=only,
        older=visit.same(after=shown[-1].id) if len(found) > PAGE else None,
        paged=before is not None,
    )


@router.page("/ops-log/new", Action.DEAD_READ)
async def wizard(visit: Visit) -> Response:
    """The steps towards a new one."""
    made = Wizard.read(visit.args)
    look = await _look(visit, made)
    if made.step != "scope" and (look.found is None or not look.found.count):
        # The address names the step that is shown.
        return RedirectResponse(visit.url("/ops-log/new", **made.query("scope")), 303)
    return await _step(visit, made, look)


@router.act("/ops-log/new", Action.DEAD_REPLAY)
async def begin(visit: Visit) -> Response:
    """Begins it, after its last step; from any other form (a selection of a list) on to the first."""
    made = Wizard.read(visit.form)
    if made.step != "confirm":
        return RedirectResponse(visit.url("/ops-log/new", **made.query("scope")), 303)
    await _permitted(visit, made)
    look = await _look(visit, made)
    faults = [*look.faults, *made.faults()]
    if look.found is not None:
        faults += _unconfirmed(visit, made, look.found)
    if faults or look.found is None or look.meant is None:
        return await _step(visit, made, look, faults)
    console = visit.asked.backend.settings.console
    pace = made.pace(
        held=not look.found.complete, undo=console.undo_window, above=console.second_person_above
    )
    try:
        begun = await visit.drive(
            bulk.start(
                made.act,
                look.meant,
                pace,
                cut_off=made.cut,
                reason=visit.form.text("reason"),
                schema=visit.schema,
            )
        )
    except (InvalidValue, UnknownQueue) as fault:
        return await _step(visit, made, look, [str(fault)])
    if begun.id is None:
        return await _step(visit, made, look, [_("No job matches any more; nothing was begun.")])
    said = _("It is asked for; workers carry it out.")
    if begun.status != "started":
        said = _("It waits until somebody else approves it.")
    elif console.undo_window and made.start_at is None:
        said = _("It begins in %s; until then it can be undone.") % seconds(console.undo_window)
    return visit.done(said, visit.url(f"/ops-log/{begun.id}"))


@router.page("/ops-log/{id:uuid}", Action.DEAD_READ)
async def operation(visit: Visit) -> Response:
    """One: how far it is, what became of each of its jobs, and what its replays have come to."""
    op = await _operation(visit)
    status, after = visit.args.text("status", None), visit.args.whole("after", 0, most=2**31 - 1)
    items = await visit.see(
        acts.items(op.id, status=status, after=after, most=ITEMS + 1, schema=visit.schema)
    )
    results = await visit.attempt(
        _("what its replays have come to"), acts.results(op.id, schema=visit.schema)
    )
    return visit.page(
        "operation.html",
        line=Line.of(op, visit.now, results),
        results=results,
        waiting=op.kind == "replay" and (op.done if results is None else WAITING & results.keys()),
        items=items[:ITEMS],
        filtered=status,
        older=visit.same(after=items[ITEMS - 1].n) if len(items) > ITEMS else None,
        slugs=await _slugs(visit, [op]),
        own=op.actor_id == visit.asked.principal.actor_id,
        needs=bulk.NEEDS[op.kind],
    )


@router.act("/ops-log/{id:uuid}/{verb}", Action.DEAD_REPLAY)
async def change(visit: Visit) -> Response:
    """Pauses, resumes, approves or aborts it."""
    verb = next((one for one in VERBS if one == visit.request.path_params["verb"]), None)
    if verb is None:
        raise not_found("page")
    op = await _operation(visit)
    if not visit.may(bulk.NEEDS[op.kind]):
        raise await _denied(visit, bulk.NEEDS[op.kind])
    reason = visit.form.text("reason", None)
    undoing = verb == "abort" and visit.form.one_of("undo", ("on",), "") == "on"
    try:
        answer = await visit.drive(
            undo(op.id, visit.now, reason=reason, schema=visit.schema)
            if undoing
            else acts.change(op.id, verb, reason=reason, schema=visit.schema)
        )
    except TooLate:
        late = _(
            "It is too late to undo it: its jobs may have had their turn. Nothing was changed; Abort stops the rest."
        )
        return visit.done(late, visit.url(f"/ops-log/{op.id}"), kind="refused")
    said, kind = {
        "paused": (_("It is paused."), "done"),
        "resumed": (_("It goes on."), "done"),
        "approved": (_("It is approved, and begins."), "done"),
        "aborted": (_("It is aborted; what it has done stays done."), "done"),
        "unchanged": (_("It was so already."), "warning"),
        "ended": (_("It has ended already."), "refused"),
        "proposed": (_("It has to be approved first."), "refused"),
        "same_person": (_("Who began it cannot approve it."), "refused"),
    }[answer.status]
    if answer.status == "aborted" and undoing:
        said = _("It is undone: nothing had been done yet.")
    return visit.done(said, visit.url(f"/ops-log/{op.id}"), kind=kind)


@dataclass(frozen=True, slots=True)
class _Look:
    """The jobs that are meant, and what an act would meet; or what is wrong with the query."""

    meant: bulk.Meant | None = None
    found: BulkPreview | None = None
    fault: QueryError | None = None
    faults: tuple[str, ...] = ()


async def _look(visit: Visit, made: Wizard) -> _Look:
    if not made.q and not made.ids:
        return _Look()
    try:
        payloads = visit.may(Action.PAYLOADS_READ)
        meant = await visit.see(made.meant(payloads=payloads, schema=visit.schema))
    except QueryError as fault:
        return _Look(fault=fault, faults=tuple(f"at character {one.at + 1}: {one.why}" for one in fault.all))
    except InvalidValue as fault:
        return _Look(faults=(str(fault),))
    found = None
    # A database that has much to do tells of fewer jobs, so that nobody is stuck at a step.
    for most, sample in ((100_000, 10_000), (5_000, 500)):
        ask = bulk.impact(made.act, meant, cut_off=made.cut, most=most, sample=sample, schema=visit.schema)
        found = await visit.attempt(_("how many jobs match in all"), ask)
        if found is not None:
            break
    return _Look(meant, found)


async def _step(
    visit: Visit, made: Wizard, look: _Look | None = None, faults: list[str] | None = None
) -> Response:
    """The page of a step; the first one as long as it is not known which jobs."""
    await _permitted(visit, made)
    if look is None:
        look = await _look(visit, made)
    wrong = [*look.faults, *(faults or ())] if faults is None else faults
    step = made.step if made.step in made.steps else "how"
    if look.found is None or not look.found.count:
        step = "scope"
    elif step == "confirm" and faults is None and made.faults():
        step, wrong = "how", made.faults()
    found = look.found
    if found is not None and step in ("how", "canary", "confirm") and not made.met(found):
        # Nothing would be done: no further than where that can be changed.
        stuck = not found.fit and not (made.act == "replay" and made.replayed(found))
        step = "impact" if stuck else "how"
    if found is not None:
        # What comes in from now on is not meant, at whatever step somebody is.
        made = replace(made, cut=made.cut or found.cut_off)
    console = visit.asked.backend.settings.console
    values: dict[str, Any] = {
        "wizard": made,
        "step": step,
        "names": STEPS,
        "labels": {kind: LABELS[kind] for kind in LABELS if visit.may(bulk.NEEDS[cast(Any, kind)])},
        "what": WHAT,
        "hopeless": False,
        "found": found,
        "fault": look.fault,
        "faults": wrong,
        "queues": [] if made.act != "move" else await visit.read(read_queue_names(schema=visit.schema)),
        "console": console,
        "reason": visit.form.text("reason"),
        "idle": found is not None and step in ("impact", "how") and not made.met(found),
        "before": made.steps[made.steps.index(step) - 1] if step != "scope" else None,
        "after": made.steps[made.steps.index(step) + 1] if step != made.steps[-1] else None,
        "here": made.steps.index(step),
    }
    if found is not None:
        met, partly = made.met(found), impact.partly(found, made)
        values |= {
            "matching": impact.count(found),
            "count": impact.count(found, met),
            "met": met,
            "typed": f"{met:,}",
            "nothing": _nothing(found),
            "hopeless": not (met or found.fit or (made.act == "replay" and made.replayed(found))),
            "partly": partly,
            "straight": met > 0 and not made.faults() and not made.unsafe(found),
            "flags": impact.flags(found, made),
            "builds": impact.builds(found) if found.by_build else None,
            "version_flags": impact.versions(found, made) if made.act == "replay" else [],
            "ages": impact.ages(found),
            "looked": impact.looked(found),
            "sentence": partly or sentence(made.act, impact.count(found), found.tenants),
            "tenant_rows": [(one.name, one.count) for one in found.by_tenant],
            "type_rows": [(one.job_type, impact.version(one), one.count) for one in found.by_type],
            "error_rows": [(one.error_class, one.count) for one in found.by_error],
            "state_rows": [(first_upper(one.name), one.count) for one in found.by_state],
        }
    return visit.page("operations/new.html", 422 if wrong else 200, **values)


def _unconfirmed(visit: Visit, made: Wizard, found: BulkPreview) -> list[str]:
    """What is missing in the last form."""
    faults = []
    if not visit.form.text("reason"):
        faults.append(_("Say why: the reason stands in the audit log."))
    elif len(visit.form.text("reason")) > 2000:
        faults.append(_("The reason has more than 2,000 characters."))
    typed = "".join(letter for letter in visit.form.text("count") if letter.isdigit())
    met = made.met(found)
    if not met:
        faults.append(_nothing(found))
    elif made.typed(found) and typed != str(met):
        faults.append(_("Type the number of jobs as it stands here: %s.") % f"{met:,}")
    return faults


def _nothing(found: BulkPreview) -> str:
    if not found.fit:
        return _("Every job that matches is in a state in which this does nothing.")
    return _("As it is chosen so far, every job that matches is left as it is: choose otherwise at How.")


async def _permitted(visit: Visit, made: Wizard) -> None:
    if not visit.may(bulk.NEEDS[made.act]):
        raise await _denied(visit, bulk.NEEDS[made.act])
    if made.act == "move" and not visit.scope.ops:
        raise not_found("page")


async def _denied(visit: Visit, action: Action) -> Problem:
    detail = f"the role {visit.asked.principal.role} may not {action}"
    return await visit.asked.denied(action, detail, target=f"{visit.request.method} ops-log")


async def _operation(visit: Visit) -> Operation:
    id: UUID = visit.request.path_params["id"]
    try:
        return await visit.see(acts.operation(id, schema=visit.schema))
    except NotFound:
        raise not_found("operation") from None


async def _slugs(visit: Visit, some: list[Operation]) -> dict[UUID, str]:
    ids = {op.tenant_id for op in some if op.tenant_id is not None}
    if not visit.scope.ops or not ids:
        return {}
    return await visit.read(tenant_slugs(sorted(ids), schema=visit.schema))
