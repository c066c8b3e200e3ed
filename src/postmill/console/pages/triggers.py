"""Triggers: the list, one of them with its history, and what is done with it by a button."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from starlette.responses import Response

from postmill.console.frame.arguments import refused
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages import trigger_words as words
from postmill.domain.access import Action
from postmill.operate import triggers as operate
from postmill.operate.triggers import RunRefused
from postmill.store.events import list_deliveries
from postmill.store.now import read_hurt
from postmill.store.trigger_runs import read_runs, read_standing
from postmill.store.triggers import TriggerView, list_ticks, list_triggers

router = Pages()

PAGE = 25
HISTORY = 50


@router.page("/triggers", Action.TRIGGERS_READ)
async def triggers(visit: Visit) -> Response:
    """All triggers, the newest first."""
    args = visit.args
    kind = args.one_of("type", ("event", "schedule"), None)
    state = args.one_of("state", ("on", "off", "missed"), None)
    key = args.text("definition", None)
    if state == "missed":
        found = await _missed(visit)
    else:
        found = await visit.read(
            list_triggers(
                trigger_type=kind,
                is_enabled=None if state is None else state == "on",
                definition_key=key,
                before=args.id("before"),
                most=PAGE + 1,
                schema=visit.schema,
            )
        )
    shown = found[:PAGE]
    ids = [trigger.id for trigger in shown]
    stands = await visit.attempt(_("what triggers depend on"), read_standing(ids, schema=visit.schema)) or {}
    runs = await visit.attempt(_("last runs"), read_runs(ids, words.RUNS, schema=visit.schema)) or {}
    assert visit.now is not None
    rows = [
        {
            "trigger": trigger,
            "stands": stands.get(trigger.id),
            "kind": words.kind_of(trigger),
            "waits_for": words.waits_for(trigger),
            "next": operate.upcoming(trigger, visit.now, 3),
            "last": next(iter(runs.get(trigger.id, [])), None),
            "strip": words.strip_of(trigger, runs.get(trigger.id, []), visit),
            "hints": words.hints(trigger, stands.get(trigger.id), runs.get(trigger.id, []), visit.now),
        }
        for trigger in shown
    ]
    return visit.page(
        "triggers/list.html",
        rows=rows,
        outcome_of=words.outcome_of,
        kind=kind,
        state=state,
        definition=key,
        filtered=bool(kind or state or key),
        newer=visit.same() if args.id("before") else None,
        older=visit.same(before=shown[-1].id) if len(found) > PAGE else None,
    )


@router.page("/triggers/{id:uuid}", Action.TRIGGERS_READ)
async def trigger(visit: Visit) -> Response:
    """One trigger: where it stands, what it makes, its next and its past runs."""
    id: UUID = visit.request.path_params["id"]
    found = await visit.see(operate.show(id, schema=visit.schema))
    stands = (await visit.read(read_standing([id], schema=visit.schema))).get(id)
    runs = (await visit.attempt(_("last runs"), read_runs([id], words.RUNS, schema=visit.schema)) or {}).get(
        id, []
    )
    assert visit.now is not None
    upcoming = operate.upcoming(found, visit.now)
    history, older = await _history(visit, found)
    return visit.page(
        "triggers/detail.html",
        trigger=found,
        stands=stands,
        kind=words.kind_of(found),
        waits_for=words.waits_for(found),
        hints=words.hints(found, stands, runs, visit.now),
        held=words.held_up(found, runs),
        blocker=words.blocker,
        strip=words.strip_of(found, runs, visit),
        template=json.dumps(json.loads(found.payload_template), indent=2, ensure_ascii=False),
        upcoming=upcoming,
        shifts=words.offsets_change(upcoming),
        history=history,
        older=older,
        newer=visit.same() if visit.args.text("before") else None,
        editable=found.origin != "code",
    )


@router.act("/triggers/{id:uuid}/run", Action.TRIGGERS_RUN)
async def run(visit: Visit) -> Response:
    """A job of it, now."""
    id: UUID = visit.request.path_params["id"]
    context = json_object(visit.form.text("context"), "context")
    try:
        ran = await visit.drive(operate.run(id, context, schema=visit.schema))
    except RunRefused as fault:
        return visit.done(_("No job was made: %s") % fault, visit.back(), kind="refused")
    if ran.outcome == "duplicate":
        return visit.done(_("Job %s holds its key already.") % ran.job_id, visit.back(), kind="warning")
    return visit.done(_("Job %s was made.") % ran.job_id, visit.back())


@router.act("/triggers/{id:uuid}/pause", Action.TRIGGERS_WRITE)
async def pause(visit: Visit) -> Response:
    """No runs until it is resumed."""
    saved = await visit.drive(_switch(visit, False))
    return visit.done(_("%s is paused.") % saved.trigger.label, visit.back())


@router.act("/triggers/{id:uuid}/resume", Action.TRIGGERS_WRITE)
async def resume(visit: Visit) -> Response:
    """Runs again, from now on."""
    saved = await visit.drive(_switch(visit, True))
    return visit.done(_("%s runs again, from now on.") % saved.trigger.label, visit.back())


@router.act("/triggers/{id:uuid}/remove", Action.TRIGGERS_WRITE)
async def remove(visit: Visit) -> Response:
    """Out of use; its jobs and its history stay."""
    id: UUID = visit.request.path_params["id"]
    reason = visit.form.text("reason", None)
    if reason is None:
        raise refused("reason", _("say why it is removed"))
    gone = await visit.drive(operate.remove(id, reason=reason, schema=visit.schema))
    return visit.done(_("%s was removed.") % gone.label, visit.url("/triggers"))


def json_object(text: str, name: str) -> dict[str, Any] | None:
    """A JSON object of a form's field; None: it is empty. Raises Problem (422)."""
    if not text:
        return None
    try:
        value = json.loads(text)
    except ValueError as fault:
        raise refused(name, _("is no JSON: %s") % fault) from None
    if not isinstance(value, dict):
        raise refused(name, _("is a JSON object, in braces"))
    return value


def _switch(visit: Visit, on: bool) -> Any:
    return operate.change(visit.request.path_params["id"], {"is_enabled": on}, schema=visit.schema)


async def _history(visit: Visit, found: Any) -> tuple[list[Any], str | None]:
    """What came of its due moments, or of the events that it met, the newest first; and the link to older ones."""
    if found.trigger_type == "schedule":
        text, before = visit.args.text("before", None), None
        if text is not None:
            try:
                before = datetime.fromisoformat(text)
            except ValueError:
                raise refused("before", _("must be a moment")) from None
            if before.utcoffset() is None:
                raise refused("before", _("must be a moment with its time zone"))
        ticks = await visit.read(list_ticks(found.id, before=before, most=HISTORY + 1, schema=visit.schema))
        more = visit.same(before=ticks[HISTORY - 1].due.isoformat()) if len(ticks) > HISTORY else None
        return list(ticks[:HISTORY]), more
    met = await visit.read(
        list_deliveries(
            trigger=found.id, before=visit.args.id("before"), most=HISTORY + 1, schema=visit.schema
        )
    )
    more = visit.same(before=met[HISTORY - 1].event_id) if len(met) > HISTORY else None
    return list(met[:HISTORY]), more


async def _missed(visit: Visit) -> list[TriggerView]:
    """Those of which an incident says that they missed a run."""
    ids = (await visit.read(read_hurt(PAGE, schema=visit.schema))).triggers
    return [one for id in ids for one in await visit.read(list_triggers(id=id, most=1, schema=visit.schema))]
