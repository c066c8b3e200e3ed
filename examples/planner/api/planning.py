"""Planning computations: asked for here, done by jobs; and the command that makes an assignment of a proposal."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Request, status

from examples.planner.api.call import Call, call
from examples.planner.api.projects import assigned
from examples.planner.api.shapes import JobAnswer, NewExport, NewReminder, Written
from examples.planner.jobs.auto_assign import auto_assign
from examples.planner.jobs.conflict_scan import conflict_scan
from examples.planner.jobs.export_planning import export_planning
from examples.planner.policy import Action
from examples.planner.statements import row, rows
from examples.planner.submit import submit
from examples.planner.telling import tell
from postmill import NewJob

planning = APIRouter(prefix="/projects/{project}", tags=["planning"])
ACCEPTED = status.HTTP_202_ACCEPTED


@planning.post("/conflict-scans", status_code=ACCEPTED)
async def scan(request: Request, org: UUID, project: UUID) -> JobAnswer:
    """Looks for conflicts in the planning as it is now. One that has not changed since is not scanned again."""
    async with call(request, org, Action.PLAN, project) as made:
        job = conflict_scan.new(revision=await _revision(made, project))
        return JobAnswer(job_id=await _asked(request, made, project, job))


@planning.post("/proposals", status_code=ACCEPTED)
async def propose(request: Request, org: UUID, project: UUID) -> JobAnswer:
    """Asks for ranked proposals for the open missions."""
    async with call(request, org, Action.PLAN, project) as made:
        job = auto_assign.new(revision=await _revision(made, project))
        return JobAnswer(job_id=await _asked(request, made, project, job))


@planning.get("/proposals")
async def proposals(request: Request, org: UUID, project: UUID) -> list[dict[str, Any]]:
    """The latest proposals, by mission and rank."""
    async with call(request, org, Action.VIEW, project) as made:
        return await rows(made.conn, "proposals", project=project)


@planning.post("/proposals/{proposal}/accept")
async def accept(request: Request, org: UUID, project: UUID, proposal: UUID) -> Written:
    """The command that makes an assignment of a proposal; it needs the right to assign, as by hand."""
    async with call(request, org, Action.ASSIGN, project) as made:
        # Of two proposals for one mission, accepted at once, the second finds the mission taken.
        await row(made.conn, "lock_project", project=project)
        found = await row(made.conn, "accept_proposal", id=proposal, project=project, by=made.caller.actor_id)
        if found is None:
            raise HTTPException(
                status.HTTP_409_CONFLICT, "it is not there, accepted, or its mission is taken"
            )
        return await assigned(made, project, found["mission_id"], found["collaborator_id"])


@planning.post("/exports", status_code=ACCEPTED)
async def export(request: Request, org: UUID, project: UUID, new: NewExport) -> JobAnswer:
    """The planning as a file; GET the job for its artifact."""
    async with call(request, org, Action.EXPORT, project) as made:
        job = export_planning.new(format=new.format, revision=await _revision(made, project))
        return JobAnswer(job_id=await _asked(request, made, project, job))


@planning.post("/reminders", status_code=ACCEPTED)
async def remind(request: Request, org: UUID, project: UUID, new: NewReminder) -> Written:
    """A delayed notification, explicitly asked for: whoever is on the mission is reminded at `scheduled_for`."""
    async with call(request, org, Action.NOTIFY, project) as made:
        found = await row(made.conn, "assigned_to", mission=new.mission_id, project=project)
        if found is None:
            raise HTTPException(status.HTTP_404_NOT_FOUND, "nobody is on this mission")
        variables = {"mission": found["title"], "when": f"{found['starts_at']:%Y-%m-%d %H:%M} UTC"}
        told = await tell(
            made.conn,
            made.caller,
            project,
            [found["collaborator_id"]],
            "reminder",
            variables,
            new.scheduled_for,
        )
    return Written(id=new.mission_id, jobs=[one.id for one in told])


async def _asked(request: Request, made: Call, project: UUID, job: NewJob) -> UUID:
    return await made.once(request, lambda: submit(made.conn, made.caller, job, project=project))


async def _revision(made: Call, project: UUID) -> int:
    found = await row(made.conn, "project", project=project)
    if found is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND)
    revision: int = found["revision"]
    return revision
