"""`planning.conflict-scan`: what cannot be as it is planned, as an artifact to be looked at. It changes nothing."""

from __future__ import annotations

from typing import Any

import orjson

from examples.planner.policy import Action
from examples.planner.queues import PLANNING
from examples.planner.scope import admitted
from examples.planner.statements import rows
from postmill import Bury, Context, job


@job(
    "planning.conflict-scan",
    queue=PLANNING,
    category="planning",
    strict_envelope=True,
    timeout=300,
    log_fields=("revision",),
    action="Ask for a new scan; replay only for the revision that it was asked for",
)
async def conflict_scan(ctx: Context, revision: int) -> dict[str, Any]:
    """Scans the project. `revision` is that of the planning when it was asked: an unchanged one is not scanned twice."""
    if ctx.job.project_id is None:
        raise Bury("project_missing")
    async with admitted(ctx, Action.PLAN, "planner_planning") as conn:
        found = await rows(conn, "conflicts", project=ctx.job.project_id)
    ctx.checkpoint()
    made = await ctx.artifacts.aput(
        "conflicts.json", orjson.dumps({"revision": revision, "conflicts": found})
    )
    return {"conflicts": len(found), "artifact": str(made.id)}
