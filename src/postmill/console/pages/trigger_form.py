"""Making and editing a trigger: a form that can be tried before it is saved, and keeps what was typed."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from starlette.responses import Response

from postmill.console.frame.arguments import Arguments
from postmill.console.frame.pages import Pages
from postmill.console.frame.shown import seconds
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages.trigger_words import offsets_change
from postmill.domain.access import Action
from postmill.domain.duration import written
from postmill.domain.errors import NotFound, PayloadRefused
from postmill.domain.lane import DEFAULT_TENANT
from postmill.domain.trigger import TriggerRefused
from postmill.operate import tenants
from postmill.operate import triggers as operate
from postmill.operate.triggers import DeclaredInCode, EditedMeanwhile
from postmill.store.reads import read_job_type_names
from postmill.store.triggers import TriggerView

router = Pages()

SCHEDULE = ("cron_expr", "every", "timezone", "missed", "missed_limit", "overlap", "dst", "jitter_seconds")
EVENT = ("event_name",)
BOTH = ("label", "definition_key", "payload_template", "dedupe_window_seconds")
WHOLE = ("dedupe_window_seconds", "missed_limit", "jitter_seconds")

SAMPLE = '{\n  "id": 1\n}'


@router.page("/triggers/new", Action.TRIGGERS_WRITE)
async def new(visit: Visit) -> Response:
    """An empty form; `type` says for what, `definition` what it makes."""
    kind = visit.args.one_of("type", ("schedule", "event"), "schedule")
    values = {
        "trigger_type": kind,
        "definition_key": visit.args.text("definition"),
        "payload_template": "{}",
        "sample": SAMPLE,
        "is_enabled": "yes",
        "tenant": "default" if visit.scope.ops else "",
    }
    return await _form(visit, None, values)


@router.act("/triggers/new", Action.TRIGGERS_WRITE)
async def create(visit: Visit) -> Response:
    """Tries it, or makes it."""
    return await _sent(visit, None)


@router.page("/triggers/{id:uuid}/edit", Action.TRIGGERS_WRITE)
async def edit(visit: Visit) -> Response:
    """The form as the trigger is."""
    found = await visit.see(operate.show(visit.request.path_params["id"], schema=visit.schema))
    if found.origin == "code":
        raise DeclaredInCode(found.label, found.declared_in or "")
    return await _form(visit, found, _written(found))


@router.act("/triggers/{id:uuid}/edit", Action.TRIGGERS_WRITE)
async def change(visit: Visit) -> Response:
    """Tries the changes, or makes them."""
    found = await visit.drive(operate.show(visit.request.path_params["id"], schema=visit.schema))
    return await _sent(visit, found)


async def _sent(visit: Visit, old: TriggerView | None) -> Response:
    values = {name: form_text(visit.form, name) for name in visit.form.everything()}
    kind = (
        old.trigger_type
        if old is not None
        else visit.form.one_of("trigger_type", ("schedule", "event"), "schedule")
    )
    values["trigger_type"] = kind
    fields, sample, errors = _read(values, kind)
    trying = visit.form.text("act") != "save"
    if errors:
        return await _form(visit, old, values, errors=errors)
    try:
        tenant = old.tenant_id if old is not None else await _tenant(visit, values)
        if trying:
            found = await visit.drive(
                operate.preview(fields, sample=sample, tenant=tenant, schema=visit.schema)
            )
            return await _form(visit, old, values, preview=found)
        if old is None:
            saved = await visit.drive(operate.create(fields, tenant=tenant, schema=visit.schema))
        else:
            changes = {
                name: fields.get(name) for name in (*BOTH, *(SCHEDULE if kind == "schedule" else EVENT))
            }
            changes["is_enabled"] = fields["is_enabled"]
            if changes["dedupe_window_seconds"] is None:
                del changes["dedupe_window_seconds"]
            seen = visit.form.text("seen", None)
            saved = await visit.drive(operate.change(old.id, changes, seen=_seen(seen), schema=visit.schema))
    except TriggerRefused as fault:
        return await _form(visit, old, values, errors=by_field(fault))
    except PayloadRefused as fault:
        return await _form(visit, old, values, errors={"sample": str(fault)})
    except NotFound as fault:
        return await _form(visit, old, values, errors={"tenant": str(fault)})
    except EditedMeanwhile as fault:
        return await _form(visit, old, values, errors={"": str(fault)}, status=409)
    told = _("%s was saved.") % saved.trigger.label
    warned = "; ".join(saved.warnings)
    to = visit.url(f"/triggers/{saved.trigger.id}")
    return visit.done(f"{told} {warned}" if warned else told, to, kind="warning" if warned else "done")


def _seen(text: str | None) -> datetime | None:
    """Of which change the form was made. Raises EditedMeanwhile for what is none: then nobody knows."""
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        raise EditedMeanwhile(_("load the form again: nobody knows of which state it was made")) from None


def by_field(fault: TriggerRefused) -> dict[str, str]:
    """What is wrong, by the form's field; places within a template stand before it."""
    errors: dict[str, str] = {}
    for one in fault.faults:
        name = one.path
        for own in ("payload_template",):
            if one.path.startswith(own) and one.path != own:
                name = own
        why = one.why if name == one.path else f"{one.path.removeprefix(name)}: {one.why}"
        errors[name] = f"{errors[name]}; {why}" if name in errors else why
    return errors


def form_text(form: Arguments, name: str) -> str:
    """A field as it was typed, lines ended as Python has them."""
    values = form.everything().get(name, [""])
    return values[-1].replace("\r\n", "\n")


async def _tenant(visit: Visit, values: dict[str, str]) -> UUID | None:
    if not visit.scope.ops:
        return None
    named = values.get("tenant", "").strip()
    if not named:
        return DEFAULT_TENANT
    return (await visit.drive(tenants.tenant(named, schema=visit.schema))).id


def _read(values: dict[str, str], kind: str) -> tuple[dict[str, Any], dict[str, Any] | None, dict[str, str]]:
    """The fields as the domain wants them, the sample of an event, and what cannot even be read."""
    errors: dict[str, str] = {}
    fields: dict[str, Any] = {"trigger_type": kind, "is_enabled": bool(values.get("is_enabled"))}
    for name in (*BOTH, *(SCHEDULE if kind == "schedule" else EVENT)):
        text = values.get(name, "").strip()
        if text:
            fields[name] = text
    for name in WHOLE:
        if name in fields:
            if not fields[name].isascii() or not fields[name].isdigit() or len(fields[name]) > 9:
                errors[name] = _("is a whole number, not %s") % repr(fields[name][:40])
            else:
                fields[name] = int(fields[name])
    for name in ("payload_template", "sample"):
        text = values.get(name, "").strip()
        if name == "sample" and (kind == "schedule" or not text):
            continue
        try:
            value = json.loads(text or "{}")
        except ValueError as fault:
            errors[name] = _("is no JSON: %s") % fault
            continue
        if not isinstance(value, dict):
            errors[name] = _("is a JSON object, in braces")
        fields[name] = value
    sample = fields.pop("sample", None)
    return fields, sample, errors


def _written(trigger: TriggerView) -> dict[str, str]:
    """A stored trigger as the form has it."""
    names = (*BOTH, *SCHEDULE, *EVENT)
    values = {name: getattr(trigger, name, None) for name in names}
    values |= {
        "trigger_type": trigger.trigger_type,
        "every": None if trigger.every_seconds is None else written(trigger.every_seconds),
        "payload_template": json.dumps(json.loads(trigger.payload_template), indent=2, ensure_ascii=False),
        "is_enabled": "yes" if trigger.is_enabled else "",
        "sample": SAMPLE,
        "seen": trigger.updated_at.isoformat(),
    }
    return {name: "" if value is None else str(value) for name, value in values.items()}


async def _form(
    visit: Visit,
    old: TriggerView | None,
    values: dict[str, str],
    *,
    errors: dict[str, str] | None = None,
    preview: operate.Preview | None = None,
    status: int = 200,
) -> Response:
    if old is not None:
        values.setdefault("seen", old.updated_at.isoformat())
    return visit.page(
        "triggers/form.html",
        status if not errors or status != 200 else 422,
        old=old,
        values=values,
        errors=errors or {},
        shown=(*BOTH, *SCHEDULE, *EVENT, "sample", "tenant"),
        known=await visit.read(read_job_type_names(schema=visit.schema)),
        preview=preview,
        payload=_pretty(preview),
        shifts=offsets_change(preview.next_runs) if preview else set(),
        window=seconds(preview.dedupe_window_seconds) if preview else "",
    )


def _pretty(preview: operate.Preview | None) -> str | None:
    if preview is None or preview.payload is None:
        return None
    return json.dumps(json.loads(preview.payload), indent=2, ensure_ascii=False)
