"""`audit.explain-run-sheet`: a change of a run sheet in words, beside the audit event. It can touch nothing else."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from examples.planner.diffs import told
from examples.planner.policy import Action
from examples.planner.queues import DEFAULT
from examples.planner.scope import admitted
from examples.planner.statements import do, rows
from postmill import Bury, Context, job


@job(
    "audit.explain-run-sheet",
    queue=DEFAULT,
    category="audit",
    strict_envelope=True,
    timeout=60,
    log_fields=("run_sheet_id", "version"),
    action="The audit event stands; only its words are missing. Replay, or discard",
)
async def explain_run_sheet(ctx: Context, run_sheet_id: UUID, version: int) -> dict[str, Any]:
    """Enriches the event of this version. As the role `planner_auditing`, which may write the audit trail alone."""
    async with admitted(ctx, Action.VIEW, "planner_auditing") as conn:
        found = await rows(conn, "two_versions", run_sheet=run_sheet_id, version=version)
        if not found or found[-1]["version"] != version:
            raise Bury("version_unknown")
        before, after = found[0], found[-1]
        lines = told(before["title"], after["title"], before["items"], after["items"])
        enriched = await do(
            conn,
            "explain_event",
            target=f"run-sheet:{run_sheet_id}:{version}",
            lines=lines,
            job_id=ctx.job.id,
        )
    return {"changes": len(lines), "enriched": enriched}
