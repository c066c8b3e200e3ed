"""`import.availability`: a CSV file that was put before, by its checksum. Written whole, or not at all."""

from __future__ import annotations

import asyncio
from hashlib import sha256 as sha256_of
from typing import Any

import orjson

from examples.planner.files.availability import BadFile, parsed
from examples.planner.kinds import planned
from examples.planner.policy import Action
from examples.planner.queues import EXPORTS
from examples.planner.scope import admitted
from examples.planner.statements import do, rows
from postmill import Context
from postmill.errors import ArtifactGone, NotFound

PAGE = 500


@planned(
    "import.availability",
    EXPORTS,
    "imports",
    timeout=900,
    log_fields=("sha256",),
    action="The error names the lines. Correct the file and import it anew; discard this one",
)
async def import_availability(ctx: Context, file: str, sha256: str) -> dict[str, Any]:
    """Imports the artifact `file`, if it is still what was sent: `sha256` is that of the request."""
    try:
        content = await ctx.artifacts.aread(file)
    except (NotFound, ArtifactGone) as gone:
        raise BadFile("the file is not there (any more)") from gone
    if sha256_of(content).hexdigest() != sha256:
        raise BadFile("the file is another one than was sent")
    windows = await asyncio.to_thread(parsed, content)  # a large file takes seconds, which the loop has not
    async with admitted(ctx, Action.IMPORT) as conn:
        known = {one["email"]: one["id"] for one in await rows(conn, "collaborators_by_email")}
        unknown = [one.line for one in windows if one.email not in known]
        if unknown:
            raise BadFile(f"lines without a collaborator of the organization: {unknown[:20]}")
        new = 0
        for start in range(0, len(windows), PAGE):
            ctx.checkpoint()
            page = windows[start : start + PAGE]
            new += await do(
                conn, "add_availability", org=ctx.job.tenant_id, sha256=sha256,
                people=[known[one.email] for one in page],
                starts=[one.starts_at for one in page], ends=[one.ends_at for one in page],
            )  # fmt: skip
            ctx.progress(start + len(page), len(windows))
    report = {"lines": len(windows), "new": new, "sha256": sha256}
    made = await ctx.artifacts.aput("import-report.json", orjson.dumps(report))
    return report | {"artifact": str(made.id)}
