"""Dead letters: jobs given up on, waiting for an operator."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query, Request, Response

from postmill.api.asked import Asked, may
from postmill.api.entering import ring_of
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.problems import Problem, not_found
from postmill.api.routes.job_acts import refuse, replayed
from postmill.api.routes.jobs import DefinitionKey, Tenant
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.job import JobView
from postmill.domain.lifecycle import State
from postmill.domain.redaction import redacted, redacted_text
from postmill.operate import commands, editing
from postmill.operate.payloads import readable
from postmill.shapes.dead_letters import DeadLetter, Discard, DiscardedJob, Replay, WholeDeadLetter
from postmill.shapes.jobs import ReplayedJob
from postmill.shapes.moments import Moment
from postmill.shapes.paging import Page
from postmill.store.dead import DeadLetter as Stored
from postmill.store.dead import read_dead_letter, read_dead_letters
from postmill.store.reads import read_job_state

router = new_router("dead letters")

Read = Annotated[Asked, Depends(may(Action.DEAD_READ))]


@router.get("/dead-letters")
async def list_dead_letters(
    asked: Read,
    reason: Annotated[
        str | None, Query(min_length=1, max_length=200, description="Given up for this reason.")
    ] = None,
    definition_key: DefinitionKey = None,
    queue: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=200,
            description="Of this queue, or of all that show theirs under this name.",
        ),
    ] = None,
    tenant_id: Tenant = None,
    error_group: Annotated[
        str | None, Query(min_length=1, max_length=200, description="With this error group.")
    ] = None,
    error_status: Annotated[int | None, Query(ge=0, le=999, description="With this HTTP status.")] = None,
    given_up_after: Annotated[Moment | None, Query(description="Given up at this moment or later.")] = None,
    given_up_before: Annotated[Moment | None, Query(description="Given up before this moment.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[DeadLetter]:
    """List open dead letters, those given up last first."""
    before = None if cursor is None else parts_of(cursor, datetime.fromisoformat, UUID)
    found = await asked.run(
        read_dead_letters(
            tenant=tenant_id,
            queue=queue,
            reason=reason,
            job_type=definition_key,
            error_group=error_group,
            error_status=error_status,
            since=given_up_after,
            until=given_up_before,
            before=None if before is None else (before[0], before[1]),
            most=limit,
            schema=asked.schema,
        )
    )
    return Page(
        items=[DeadLetter(**_facts(letter)) for letter in found.letters],
        next=None if found.before is None else cursor_of(*found.before),
    )


@router.get("/dead-letters/{job_id:uuid}")
async def get_dead_letter(job_id: UUID, asked: Read) -> WholeDeadLetter:
    """Show one open dead letter. The payload needs the permission `payloads.read`."""
    letter = await _letter(asked, job_id)
    payload = None
    if asked.principal.may(Action.PAYLOADS_READ) and letter.job_type is not None:
        ring = asked.backend.settings.encryption.ring
        payload = redacted(readable(letter.payload, letter.tenant_id, letter.job_type, ring))
    stack = None if letter.stack is None else redacted_text(letter.stack)
    return WholeDeadLetter(
        **_facts(letter),
        stack=stack,
        payload=payload,
        version=letter.version,
        version_then=letter.version_then,
    )


@router.post("/dead-letters/{job_id:uuid}/replay", status_code=201)
async def replay_dead_letter(
    job_id: UUID,
    request: Request,
    response: Response,
    asked: Annotated[Asked, Depends(may(Action.DEAD_REPLAY))],
    body: Replay | None = None,
) -> ReplayedJob:
    """Run a dead letter again as a new job, which knows whose replay it is.

    Fix-forward: with `edit` or `payload` it runs with other arguments, checked against the definition as it is now; what
    was changed is audited, without secrets.

    One that was replayed already is refused with 409, which names that job (`job_id`), unless it has ended and `again` is
    true; one whose definition says `replay_class = ask`, unless `confirm` is true; one in whose place a later job has
    succeeded, unless `despite_success` is true.
    """
    body = Replay() if body is None else body
    if body.payload is not None and body.edit is not None:
        raise Problem(422, "invalid", "edit: goes in place of `payload`, not with it")
    letter = await _letter_or_replayed(asked, job_id)
    edited: editing.Edited | None = None
    if body.payload is not None or body.edit is not None:
        if letter.job_type is None:
            raise Problem(409, "job-body-gone", "the job's body is gone; enqueue a new job")
        edited = await asked.drive(
            editing.edited(
                letter.job_type,
                letter.tenant_id,
                letter.payload,
                payload=body.payload,
                patch=body.edit,
                ring=partial(ring_of, asked),
                schema=asked.schema,
            )
        )
    (answer,) = await asked.drive(
        commands.replay(
            [job_id],
            payload=None if edited is None else edited.payload,
            changes=None if edited is None else edited.changes,
            again=body.again,
            confirm=body.confirm,
            despite_success=body.despite_success,
            version=body.version,
            original_version=body.original_version,
            schema=asked.schema,
        )
    )
    if answer.status != "replayed":
        refuse(answer)
    return await replayed(asked, request, response, answer)


@router.post("/dead-letters/{job_id:uuid}/discard")
async def discard_dead_letter(
    job_id: UUID,
    asked: Annotated[Asked, Depends(may(Action.DEAD_DISCARD))],
    body: Discard | None = None,
) -> DiscardedJob:
    """Close a dead letter for good: the job counts as failed."""
    reason = None if body is None else body.reason
    (answer,) = await asked.drive(commands.discard([job_id], reason=reason, schema=asked.schema))
    if answer.status != "discarded":
        raise not_found("dead letter")
    return DiscardedJob(id=job_id, status="failed")


async def _letter(asked: Asked, job_id: UUID) -> Stored:
    letter = await asked.run(read_dead_letter(job_id, schema=asked.schema))
    if letter is None:
        raise not_found("dead letter; it may have been replayed or discarded")
    return letter


async def _letter_or_replayed(asked: Asked, job_id: UUID) -> Stored | JobView:
    letter = await asked.run(read_dead_letter(job_id, schema=asked.schema))
    if letter is not None:
        return letter
    for job in await asked.run(read_job_state([job_id], schema=asked.schema)):
        if job.status is State.DEAD_LETTER and job.replayed_as is not None:
            return job
    raise not_found("dead letter; it may have been discarded")


def _facts(letter: Stored) -> dict[str, Any]:
    return {
        "id": letter.id,
        "tenant_id": letter.tenant_id,
        "definition_key": letter.job_type,
        "queue": letter.queue,
        "shown_as": letter.shown_as,
        "reason": letter.reason,
        "error_class": letter.error_class,
        "error_code": letter.error_code,
        "error_status": letter.error_status,
        "last_error": None if letter.error_message is None else redacted_text(letter.error_message),
        "attempts": letter.attempts,
        "failed_at": letter.failed_at,
        "last_attempt_at": letter.last_attempt_at,
        "error_group": letter.error_group,
    }
