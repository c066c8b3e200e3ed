"""Editing a definition: what operators change of it, by the platform's super admin only."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.access import Action
from postmill.domain.duration import parse, written
from postmill.domain.errors import DefinitionConflict, DefinitionError
from postmill.operate import definitions as operate
from postmill.store.definition_rows import DefinitionView

router = Pages()

PATH = "/definition-edit/{key:path}"
WHOLE = ("max_attempts", "priority", "worker_limit")
TEXT = ("description", "replay_class", "on_exhausted")
SHOWN = (*WHOLE, *TEXT, "timeout_seconds", "is_active")


@router.page(PATH, Action.DEFINITIONS_WRITE, tenant=False)
async def form(visit: Visit) -> Response:
    """The form, as the definition is."""
    found = await visit.see(operate.definition(visit.request.path_params["key"], schema=visit.schema))
    return _page(visit, found, _written(found), {})


@router.act(PATH, Action.DEFINITIONS_WRITE, tenant=False)
async def save(visit: Visit) -> Response:
    """The changes; only what is other than before is written, and is the operators' from then on."""
    found = await visit.drive(operate.definition(visit.request.path_params["key"], schema=visit.schema))
    values = {name: visit.form.text(name) for name in (*SHOWN, "version", "release")}
    before, errors = _written(found), {}
    changes: dict[str, Any] = {}
    for name in SHOWN:
        if values[name] == before[name]:
            continue
        try:
            changes[name] = _value(name, values[name])
        except ValueError as fault:
            errors[name] = str(fault)
    release = [name for name in visit.form.all("release") if name in found.edited]
    if not errors:
        try:
            version = visit.form.whole("version", None)
            await visit.drive(
                operate.edit(found.id, changes, release=release, version=version, schema=visit.schema)
            )
            return visit.done(_("%s was saved.") % found.key, visit.url(f"/definitions/{found.key}"))
        except DefinitionError as fault:
            name, mark, why = str(fault).partition(": ")
            errors = {name: why} if mark else {"": str(fault)}
        except DefinitionConflict as fault:
            errors = {"": str(fault)}
    return _page(visit, found, values, errors)


def _value(name: str, text: str) -> Any:
    if name == "is_active":
        return bool(text)
    if name == "timeout_seconds":
        return None if not text else parse(text, _("a timeout"))
    if name in WHOLE:
        if not text and name == "worker_limit":
            return None
        if not text.isascii() or not text.isdigit() or len(text) > 9:
            raise ValueError(_("is a whole number, not %s") % repr(text[:40]))
        return int(text)
    return text


def _written(found: DefinitionView) -> dict[str, str]:
    values = {name: getattr(found, name) for name in (*WHOLE, *TEXT)}
    made = {name: "" if value is None else str(value) for name, value in values.items()}
    return made | {
        "timeout_seconds": "" if found.timeout_seconds is None else written(found.timeout_seconds),
        "is_active": "yes" if found.is_active else "",
        "version": str(found.version),
    }


def _page(visit: Visit, found: DefinitionView, values: dict[str, str], errors: dict[str, str]) -> Response:
    return visit.page(
        "definitions/edit.html",
        422 if errors else 200,
        one=found,
        values=values,
        errors=errors,
        shown=SHOWN,
    )
