"""Trying a definition: a form made of its JSON Schema, or the whole as JSON, and the job that comes of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from postmill.api.entering import enter
from postmill.api.problems import Problem
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.access import Action
from postmill.domain.errors import EnqueueRefused, NotFound, PayloadRefused
from postmill.domain.job import NewJob
from postmill.domain.lane import DEFAULT_TENANT
from postmill.operate import definitions as operate
from postmill.operate import tenants
from postmill.store.definition_rows import DefinitionView

router = Pages()

PATH = "/definition-try/{key:path}"
PREFIX = "arg."
MOST_FIELDS = 30
SIMPLE = ("string", "integer", "number", "boolean")


@dataclass(frozen=True, slots=True)
class Field:
    """An argument that a form can ask for. `kind` is its JSON type; `choices` are all that it may be."""

    name: str
    kind: str
    required: bool
    hint: str
    choices: tuple[str, ...]
    default: str

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Its choices as a list of options."""
        return [(one, one) for one in self.choices]


@router.page(PATH, Action.JOBS_ENQUEUE)
async def form(visit: Visit) -> Response:
    """The form: fields where the schema is simple, unless `as=json` asks for the whole."""
    found = await visit.see(operate.definition(visit.request.path_params["key"], schema=visit.schema))
    fields = None if visit.args.text("as") == "json" else fields_of(found.arg_schema)
    values = {"payload": _sample(found.arg_schema), "tenant": "default" if visit.scope.ops else ""}
    for field in fields or []:
        values[PREFIX + field.name] = field.default
    return _page(visit, found, fields, values, {})


@router.act(PATH, Action.JOBS_ENQUEUE)
async def start(visit: Visit) -> Response:
    """A job of it; what does not fit is told at its field."""
    found = await visit.drive(operate.definition(visit.request.path_params["key"], schema=visit.schema))
    values = {name: texts[-1] for name, texts in visit.form.everything().items()}
    fields = None if visit.form.text("as") == "json" else fields_of(found.arg_schema)
    errors: dict[str, str] = {}
    payload = _whole(values, errors) if fields is None else _gathered(fields, values, errors)
    if not errors:
        try:
            tenant = visit.scope.tenant.id if visit.scope.tenant else await _tenant(visit, values)
            made = NewJob.of(
                found.key,
                payload,
                tenant_id=tenant,
                actor_type=visit.asked.principal.actor_type,
                actor_id=visit.asked.principal.actor_id,
                request_id=visit.asked.request_id,
                correlation_id=visit.asked.request_id,
            )
            _key, entered = await enter(visit.asked, made)
            told = (
                _("Job %s was made.") if entered.status == "created" else _("Job %s holds its key already.")
            )
            return visit.done(told % entered.id, visit.url(f"/jobs/{entered.id}"))
        except PayloadRefused as fault:
            errors = _at(fault, fields)
        except NotFound as fault:
            errors = {"tenant": str(fault)}
        except EnqueueRefused as fault:
            errors = {"": str(fault)}
        except Problem as fault:
            errors = {"": str(fault.detail)}
    return _page(visit, found, fields, values, errors)


def fields_of(schema: dict[str, Any]) -> list[Field] | None:
    """The fields of a form, where each argument is a text, a number or a yes; None: it is more than a form can ask."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not 0 < len(properties) <= MOST_FIELDS:
        return None
    if set(schema) & {"anyOf", "oneOf", "allOf", "not", "if", "$ref", "patternProperties"}:
        return None
    required = schema.get("required")
    found = []
    for name, own in properties.items():
        if not isinstance(own, dict) or (own.get("type") not in SIMPLE and "enum" not in own):
            return None
        choices = own.get("enum", [])
        if not all(isinstance(one, str) for one in choices):
            return None
        default = own.get("default")
        found.append(
            Field(
                name,
                own.get("type", "string"),
                isinstance(required, list) and name in required,
                str(own.get("description") or own.get("title") or "")[:300],
                tuple(choices),
                "" if default is None else default if isinstance(default, str) else json.dumps(default),
            )
        )
    return found


def _gathered(fields: list[Field], values: dict[str, str], errors: dict[str, str]) -> dict[str, Any]:
    """The payload from fields; one that is left empty and not required is left out."""
    payload: dict[str, Any] = {}
    for field in fields:
        text = values.get(PREFIX + field.name, "").replace("\r\n", "\n")
        if field.kind == "boolean":
            if text or field.required:
                payload[field.name] = text == "true"
        elif text == "" and not field.required:
            continue
        elif field.kind in ("integer", "number"):
            try:
                payload[field.name] = int(text) if field.kind == "integer" else json.loads(text)
            except ValueError:
                errors[PREFIX + field.name] = _("is a number, not %s") % repr(text[:40])
        else:
            payload[field.name] = text
    return payload


def _whole(values: dict[str, str], errors: dict[str, str]) -> dict[str, Any]:
    try:
        payload = json.loads(values.get("payload", "") or "{}")
    except ValueError as fault:
        errors["payload"] = _("is no JSON: %s") % fault
        return {}
    if not isinstance(payload, dict):
        errors["payload"] = _("is a JSON object, in braces")
        return {}
    return payload


def _at(fault: PayloadRefused, fields: list[Field] | None) -> dict[str, str]:
    """Faults by the field that they are of; others are told with their path."""
    errors: dict[str, str] = {}
    names = {field.name for field in fields or []}
    told = [(fault.path, fault.why), *((one.path, one.why) for one in fault.more)]
    for path, why in told:
        parts = path.lstrip("#/.").replace("args.", "").split("/")
        name = parts[0] if parts[0] in names else ""
        at = PREFIX + name if name else "payload"
        text = why if name and len(parts) == 1 else f"{path}: {why}"
        errors[at] = f"{errors[at]}; {text}" if at in errors else text
    return errors


async def _tenant(visit: Visit, values: dict[str, str]) -> Any:
    named = values.get("tenant", "").strip()
    if not named:
        return DEFAULT_TENANT
    return (await visit.drive(tenants.tenant(named, schema=visit.schema))).id


def _sample(schema: dict[str, Any]) -> str:
    """An object with the required arguments, to be filled in."""
    properties, required = schema.get("properties"), schema.get("required")
    empty: dict[str, Any] = {
        "string": "",
        "integer": 0,
        "number": 0,
        "boolean": False,
        "array": [],
        "object": {},
    }
    names = required if isinstance(required, list) else []
    known = properties if isinstance(properties, dict) else {}
    made = {}
    for name in names:
        own = known.get(name)
        made[str(name)] = empty.get(str(own.get("type"))) if isinstance(own, dict) else None
    return json.dumps(made, indent=2, ensure_ascii=False)


def _page(
    visit: Visit,
    found: DefinitionView,
    fields: list[Field] | None,
    values: dict[str, str],
    errors: dict[str, str],
) -> Response:
    return visit.page(
        "definitions/try.html",
        422 if errors else 200,
        one=found,
        fields=fields,
        simple=fields_of(found.arg_schema) is not None,
        prefix=PREFIX,
        values=values,
        errors=errors,
        shown=("payload", "tenant", *(PREFIX + field.name for field in fields or [])),
        secret=True,
    )
