"""Jobs under their contract, cancellation, dead letters, maintenance, the audit trail."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Request, status

from examples.planner.api.call import Call, call, known
from examples.planner.api.shapes import DeadLetter, Edited, JobAnswer, JobShown, NewMaintenance
from examples.planner.contract import read
from examples.planner.jobs.maintenance import expired_keys, rebuild_search
from examples.planner.kinds import PLAN
from examples.planner.policy import Action, require
from examples.planner.statements import row, rows
from examples.planner.submit import submit
from postmill import JobView, acancel
from postmill.errors import NotFound

operations = APIRouter(tags=["operations"])


@operations.get("/jobs/{job}")
async def show(request: Request, org: UUID, job: UUID) -> JobShown:
    """A job: its contract, where it stands, what came of it."""
    found = await _found(request, org, job)
    async with call(request, org, Action.VIEW, found.project_id):
        return JobShown(
            contract=read(found), status=found.status, queue=found.queue, attempt=found.attempt,
            result=found.result, reason=found.reason,
        )  # fmt: skip


@operations.delete("/jobs/{job}", status_code=status.HTTP_202_ACCEPTED)
async def cancel(request: Request, org: UUID, job: UUID) -> dict[str, str]:
    """Ends one's own job, or with the right to operate anybody's. The request for it is an event of the audit trail."""
    found = await _found(request, org, job)
    async with call(request, org, Action.VIEW, found.project_id) as made:
        who = made.caller
        if (found.actor_type, found.actor_id) != (who.actor_type, who.actor_id):
            await require(made.conn, who, Action.OPERATE, found.project_id)
        answer = await acancel(made.conn, job, actor_type=who.actor_type, actor_id=who.actor_id)
        await made.note("job.cancel-requested", f"job:{job}", found.project_id, answer=answer.status)
    return {"status": answer.status}


@operations.get("/dead-letters")
async def dead_letters(request: Request, org: UUID) -> list[DeadLetter]:
    """The organization's `q:deadletter`, the latest first, each with what can be done."""
    async with call(request, org, Action.OPERATE) as made:
        return [DeadLetter(**one, plan=list(PLAN)) for one in await rows(made.conn, "dead_letters")]


@operations.post("/dead-letters/{job}/replay", status_code=status.HTTP_202_ACCEPTED)
async def replay(request: Request, org: UUID, job: UUID, edited: Edited) -> JobAnswer:
    """Runs it again as a new job; with a payload it is fixed forward."""
    async with call(request, org, Action.OPERATE) as made:
        await _letter(made, job)
        payload = None if edited.payload is None else json.dumps(edited.payload)
        who = made.caller
        answer = await row(
            made.conn, "replay", id=job, actor_type=who.actor_type, actor_id=who.actor_id, payload=payload
        )
        if answer is None or answer["new_id"] is None:
            raise HTTPException(status.HTTP_409_CONFLICT, answer and answer["status"])
        await made.note("job.replayed", f"job:{job}", new_job_id=answer["new_id"], fixed=payload is not None)
    return JobAnswer(job_id=answer["new_id"])


@operations.post("/dead-letters/{job}/discard", status_code=status.HTTP_204_NO_CONTENT)
async def discard(request: Request, org: UUID, job: UUID) -> None:
    """Closes it: nothing is done."""
    async with call(request, org, Action.OPERATE) as made:
        await _letter(made, job)
        await row(made.conn, "discard", id=job, reason=f"discarded by {made.caller.actor_id}")
        await made.note("job.discarded", f"job:{job}")


@operations.post("/maintenance", status_code=status.HTTP_202_ACCEPTED)
async def maintain(request: Request, org: UUID, new: NewMaintenance) -> JobAnswer:
    """Housekeeping at `scheduled_for`, once for each of its days (UTC)."""
    kind = {"expired-keys": expired_keys, "rebuild-search": rebuild_search}[new.what]
    async with call(request, org, Action.MAINTAIN) as made:
        job = kind.new(night=new.scheduled_for.astimezone(UTC).date())
        answer = await submit(made.conn, made.caller, job, scheduled_for=new.scheduled_for)
    return JobAnswer(job_id=answer.id)


@operations.get("/audit")
async def audit(request: Request, org: UUID) -> list[dict[str, Any]]:
    """What people did, the latest first, with what enrichment has found to say of it."""
    async with call(request, org, Action.OPERATE) as made:
        return await rows(made.conn, "audit_events")


async def _found(request: Request, org: UUID, job: UUID) -> JobView:
    """A job of this organization. Raises 404; 401 first, so that nobody learns which jobs there are."""
    async with known(request, org):
        pass
    try:
        found: JobView = await request.app.state.client.get(job)
    except NotFound as missing:
        raise HTTPException(status.HTTP_404_NOT_FOUND) from missing
    if found.tenant_id != org:
        raise HTTPException(status.HTTP_404_NOT_FOUND)
    return found


async def _letter(made: Call, job: UUID) -> None:
    if await row(made.conn, "dead_letter", job=job) is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND)
