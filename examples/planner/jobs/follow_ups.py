"""What follows a user's write. `project.provision` is critical: nobody can plan before it has run."""

from __future__ import annotations

from typing import Any

from examples.planner.kinds import FOLLOW_UP
from examples.planner.policy import Action
from examples.planner.queues import CRITICAL, DEFAULT
from examples.planner.scope import admitted
from examples.planner.statements import row
from postmill import Bury, Context, job


@job(
    "project.provision",
    queue=CRITICAL,
    idempotency=FOLLOW_UP,
    strict_envelope=True,
    timeout=30,
    priority=10,
    action="Replay: planners wait for this project",
)
async def provision_project(ctx: Context) -> dict[str, Any]:
    """Makes the project's first run sheet, and opens the project for planning."""
    async with admitted(ctx, Action.EDIT) as conn:
        made = await row(conn, "provision_project", org=ctx.job.tenant_id, project=ctx.job.project_id)
    if made is None:
        raise Bury("project_missing")
    return {"ready_at": made["ready_at"].isoformat()}


@job(
    "staffing.refresh",
    queue=DEFAULT,
    idempotency=FOLLOW_UP,
    strict_envelope=True,
    timeout=60,
    action="Discard: the next change of the planning does it",
)
async def refresh_staffing(ctx: Context, revision: int) -> dict[str, Any]:
    """Sums up how many missions are staffed: a derived view, which an older revision does not overwrite."""
    async with admitted(ctx, Action.VIEW) as conn:
        summed = await row(conn, "refresh_staffing", project=ctx.job.project_id, revision=revision)
    return {"skipped": "a newer revision is summed up"} if summed is None else dict(summed)
