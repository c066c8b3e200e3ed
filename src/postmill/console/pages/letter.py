"""One dead letter: what it failed of, and its payload as a form to run it again with."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.responses import RedirectResponse, Response

from postmill.api.entering import ring_of
from postmill.api.problems import Problem, not_found
from postmill.console.failures import payload_form
from postmill.console.failures.payload_form import Field
from postmill.console.failures.tracebacks import folded
from postmill.console.frame.arguments import as_id
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages.dead import queue_names
from postmill.console.pages.dead_acts import told
from postmill.domain.access import Action
from postmill.domain.encryption import MARK
from postmill.domain.errors import PayloadRefused
from postmill.domain.redaction import redacted_text
from postmill.operate import commands, editing
from postmill.operate.payloads import readable, secret_names
from postmill.store.dead import DeadLetter, read_dead_letter
from postmill.store.definition_rows import DefinitionView
from postmill.store.definitions import list_definitions
from postmill.store.error_groups import read_error_groups
from postmill.store.reads import read_job_state

router = Pages()


@router.page("/dead/{job_id}", Action.DEAD_READ)
async def letter(visit: Visit) -> Response:
    """One letter; one that was closed leads to its job."""
    id = as_id(visit.request.path_params["job_id"], "job_id")
    found = await visit.read(read_dead_letter(id, schema=visit.schema))
    if found is None:
        if await visit.read(read_job_state([id], schema=visit.schema)):
            return RedirectResponse(visit.url(f"/jobs/{id}"), 303)
        raise not_found("dead letter")
    return await _page(visit, found)


@router.act("/dead/{job_id}/replay", Action.DEAD_REPLAY)
async def replay(visit: Visit) -> Response:
    """Run it again, with what was typed where that is other than what is stored."""
    id = as_id(visit.request.path_params["job_id"], "job_id")
    found = await visit.read(read_dead_letter(id, schema=visit.schema))
    if found is None:
        raise not_found("dead letter; it may have been replayed or discarded")
    form, payload, changes = visit.form, None, None
    if form.text("edit") == "1":
        if not visit.may(Action.PAYLOADS_READ) or found.job_type is None:
            raise Problem(403, "forbidden", "whoever edits a payload must be allowed to see it")
        asked, stored, names = await _form(visit, found)
        try:
            typed = payload_form.read(form, asked, stored, names)
            edited = await visit.see(
                editing.edited(
                    found.job_type,
                    found.tenant_id,
                    found.payload,
                    payload=typed,
                    ring=partial(ring_of, visit.asked),
                    schema=visit.schema,
                )
            )
        except PayloadRefused as fault:
            asked, rest = payload_form.refused(asked, form, fault)
            return await _page(visit, found, asked=asked, faults=rest, status=422)
        if edited.changes:
            payload, changes = edited.payload, edited.changes
    [answer] = await visit.drive(
        commands.replay(
            [id],
            payload=payload,
            changes=changes,
            confirm=form.text("confirm") == "1",
            despite_success=form.text("despite_success") == "1",
            schema=visit.schema,
        )
    )
    if answer.status != "replayed":
        asked, _stored, _names = await _form(visit, found)
        return await _page(visit, found, asked=asked, faults=[told(answer.status)], status=409)
    return visit.done(_("It runs again as a new job."), visit.url(f"/jobs/{answer.new_id}"))


async def _form(visit: Visit, found: DeadLetter) -> tuple[list[Field], Any, tuple[str, ...]]:
    """The fields, the payload in clear, and the names of its secrets."""
    assert found.job_type is not None
    ring = visit.asked.backend.settings.encryption.ring
    stored = readable(found.payload, found.tenant_id, found.job_type, ring)
    names = await visit.see(secret_names(found.job_type, visit.schema))
    definition = await _definition(visit, found.job_type)
    schema = {} if definition is None else definition.arg_schema
    return payload_form.fields(schema, stored, names), stored, names


async def _definition(visit: Visit, job_type: str) -> DefinitionView | None:
    found = await visit.read(list_definitions(key=job_type, most=1, schema=visit.schema))
    return found[0] if found else None


async def _page(
    visit: Visit,
    found: DeadLetter,
    *,
    asked: list[Field] | None = None,
    faults: list[str] | None = None,
    status: int = 200,
) -> Response:
    allowed = visit.may(Action.PAYLOADS_READ)
    sealed = isinstance(found.payload, dict) and MARK in found.payload
    if asked is None and allowed and found.job_type is not None:
        asked, stored, _names = await _form(visit, found)
        sealed = sealed and isinstance(stored, dict) and MARK in stored
    elif asked is not None:
        sealed = False
    group = None
    if found.error_group is not None:
        groups = await visit.read(read_error_groups(id=found.error_group, most=1, schema=visit.schema))
        group = groups[0] if groups else None
    return visit.page(
        "letter.html",
        status=status,
        secret=True,
        letter=found,
        message=redacted_text(found.error_message or ""),
        parts=folded(None if found.stack is None else redacted_text(found.stack)),
        group=group,
        fields=None if not allowed or sealed or found.job_type is None else asked,
        sealed=sealed,
        faults=faults or [],
        definition=None if found.job_type is None else await _definition(visit, found.job_type),
        queues=await queue_names(visit),
    )
