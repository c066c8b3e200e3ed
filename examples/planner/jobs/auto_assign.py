"""`planning.auto-assign`: ranked proposals for open missions. It proposes; the command `accept` assigns."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson

from examples.planner.planning.ranking import ranked
from examples.planner.policy import Action
from examples.planner.queues import PLANNING
from examples.planner.scope import admitted
from examples.planner.statements import do, rows
from postmill import Bury, Context, job


@job(
    "planning.auto-assign",
    queue=PLANNING,
    category="planning",
    strict_envelope=True,
    timeout=300,
    log_fields=("revision",),
    action="Ask for new proposals; old ones are of an old revision",
)
async def auto_assign(ctx: Context, revision: int) -> dict[str, Any]:
    """Proposes, as the role `planner_planning`, to which the database lets no assignment happen."""
    if ctx.job.project_id is None:
        raise Bury("project_missing")
    async with admitted(ctx, Action.PLAN, "planner_planning") as conn:
        proposals = ranked(await rows(conn, "candidates", project=ctx.job.project_id))
    ctx.checkpoint()
    told = [asdict(one) for one in proposals]
    made = await ctx.artifacts.aput("proposals.json", orjson.dumps({"revision": revision, "proposals": told}))
    async with admitted(ctx, Action.PLAN, "planner_planning") as conn:
        for one in told:
            await do(
                conn, "propose", org=ctx.job.tenant_id, project=ctx.job.project_id, job_id=ctx.job.id,
                artifact_id=made.id, **one,
            )  # fmt: skip
    return {"proposals": len(told), "artifact": str(made.id)}
