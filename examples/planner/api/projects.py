"""Projects, missions, assignments, run sheets: small writes, answered at once; what follows them is done by jobs."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Request, status

from examples.planner.api.call import Call, call
from examples.planner.api.shapes import Name, NewAssignment, NewMission, NewProject, NewRunSheet, Written
from examples.planner.jobs.explain_run_sheet import explain_run_sheet
from examples.planner.jobs.follow_ups import provision_project, refresh_staffing
from examples.planner.policy import Action
from examples.planner.statements import Row, row, rows
from examples.planner.submit import submit
from examples.planner.telling import tell_if_possible

projects = APIRouter(prefix="/projects", tags=["projects"])


@projects.post("", status_code=status.HTTP_201_CREATED)
async def create(request: Request, org: UUID, new: NewProject) -> Written:
    """A project. It can be planned once the critical job has provisioned it."""
    async with call(request, org, Action.EDIT) as made:
        project = await _one(made, "open_project", org=org, name=new.name)
        await made.note("project.created", f"project:{project['id']}", project["id"])
        job = await submit(made.conn, made.caller, provision_project.new(), project=project["id"])
    return Written(id=project["id"], jobs=[job.id])


@projects.get("/{project}")
async def show(request: Request, org: UUID, project: UUID) -> dict[str, Any]:
    """A project; `staffed` and `open` are a derived view, of the revision `summed_revision`."""
    async with call(request, org, Action.VIEW, project) as made:
        return await _one(made, "project", project=project)


@projects.post("/{project}/missions", status_code=status.HTTP_201_CREATED)
async def add_mission(request: Request, org: UUID, project: UUID, new: NewMission) -> Written:
    """A mission that needs somebody."""
    if new.ends_at <= new.starts_at:
        raise HTTPException(status.HTTP_422_UNPROCESSABLE_CONTENT, "ends_at is not after starts_at")
    async with call(request, org, Action.EDIT, project) as made:
        revision = await _moved(made, project)
        mission = await _one(made, "add_mission", org=org, project=project, **new.model_dump())
        await made.note("mission.added", f"mission:{mission['id']}", project)
        job = await submit(made.conn, made.caller, refresh_staffing.new(revision=revision), project=project)
    return Written(id=mission["id"], jobs=[job.id])


@projects.put("/{project}/missions/{mission}/assignment")
async def assign(request: Request, org: UUID, project: UUID, mission: UUID, new: NewAssignment) -> Written:
    """Assigns a collaborator, who is told of it by every channel there is an address for."""
    async with call(request, org, Action.ASSIGN, project) as made:
        return await assigned(made, project, mission, new.collaborator_id)


async def assigned(made: Call, project: UUID, mission: UUID, person: UUID) -> Written:
    """The command, for whoever has the right to it: by hand, or by accepting a proposal."""
    org = made.caller.org_id
    about = {"org": org, "project": project, "mission": mission}
    by = made.caller.actor_id
    revision = await _moved(made, project)
    found = await _one(made, "assign", **about, collaborator=person, by=by)
    await made.note("assignment.made", f"mission:{mission}", project, collaborator_id=person)
    job = await submit(made.conn, made.caller, refresh_staffing.new(revision=revision), project=project)
    variables = {"mission": found["title"], "when": f"{found['starts_at']:%Y-%m-%d %H:%M} UTC"}
    told = await tell_if_possible(
        made.conn, made.caller, project, [person], "assignment", variables, found["assigned_at"]
    )
    return Written(id=mission, jobs=[job.id, *(one.id for one in told)])


@projects.put("/{project}/run-sheet")
async def write_run_sheet(request: Request, org: UUID, project: UUID, new: NewRunSheet) -> Written:
    """A new version of the run sheet. Its changes are put into words, and everybody on the project is told."""
    async with call(request, org, Action.EDIT, project) as made:
        items = json.dumps([item.model_dump() for item in new.items])
        sheet = await _one(made, "write_run_sheet", project=project, title=new.title, items=items)
        await made.note("run-sheet.updated", f"run-sheet:{sheet['id']}:{sheet['version']}", project)
        explain = explain_run_sheet.new(run_sheet_id=sheet["id"], version=sheet["version"])
        job = await submit(made.conn, made.caller, explain, project=project)
        people = [one["collaborator_id"] for one in await rows(made.conn, "crew", project=project)]
        variables = {"title": new.title, "version": str(sheet["version"])}
        told = await tell_if_possible(made.conn, made.caller, project, people, "run-sheet-updated", variables)
    return Written(id=sheet["id"], jobs=[job.id, *(one.id for one in told)])


@projects.get("/{project}/search")
async def search(request: Request, org: UUID, project: UUID, q: Name) -> list[dict[str, Any]]:
    """Missions by their words, as of the last rebuild of the index."""
    async with call(request, org, Action.VIEW, project) as made:
        return await rows(made.conn, "search", project=project, q=q)


async def _moved(made: Call, project: UUID) -> int:
    """The planning's next revision. Raises 409 while the project is not provisioned."""
    found = await row(made.conn, "move_revision", project=project)
    if found is None:
        raise HTTPException(status.HTTP_409_CONFLICT, f"project {project} is not there, or not ready yet")
    revision: int = found["revision"]
    return revision


async def _one(made: Call, name: str, /, **values: Any) -> Row:
    """The row of a statement. Raises 404 where there is none."""
    found = await row(made.conn, name, **values)
    if found is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND)
    return found
