"""`export.planning`: a project's planning as PDF or CSV, an artifact of the organization's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal

from examples.planner.files import csv_pages, pages
from examples.planner.files.pdf import PlanningPdf
from examples.planner.policy import Action
from examples.planner.queues import EXPORTS
from examples.planner.scope import admitted
from examples.planner.statements import Row, row, rows
from postmill import Artifact, Bury, Context, job

Format = Literal["pdf", "csv"]


@job(
    "export.planning",
    queue=EXPORTS,
    category="exports",
    strict_envelope=True,
    timeout=900,
    log_fields=("format", "revision"),
    action="Ask for a new export; the store of artifacts may be full or away",
)
async def export_planning(ctx: Context, format: Format, revision: int) -> dict[str, Any]:
    """Exports the planning. Between pages it looks whether to go on; the artifact is there whole, or not at all."""
    async with admitted(ctx, Action.EXPORT) as conn:
        project = await row(conn, "project", project=ctx.job.project_id)
    if project is None:
        raise Bury("project_missing")
    made = await (_pdf(ctx, project["name"]) if format == "pdf" else _csv(ctx))
    return {"artifact": str(made.id), "sha256": made.sha256, "bytes": made.size}


async def _pdf(ctx: Context, title: str) -> Artifact:
    document = PlanningPdf(title)
    async for page in _pages(ctx):
        document.add(page)
    return await ctx.artifacts.aput("planning.pdf", document.finished())


async def _csv(ctx: Context) -> Artifact:
    async def content() -> AsyncIterator[bytes]:
        yield csv_pages.page((), first=True)
        async for page in _pages(ctx):
            yield csv_pages.page(page, first=False)

    return await ctx.artifacts.aput("planning.csv", content())


async def _pages(ctx: Context) -> AsyncIterator[list[Row]]:
    """Each page is a checkpoint, and asks anew whether the actor may see it."""

    async def read(last: Row | None) -> list[Row]:
        ctx.checkpoint()
        after, time = (last["id"], last["starts_at"]) if last else (None, None)
        async with admitted(ctx, Action.EXPORT) as conn:
            return await rows(
                conn,
                "planning_page",
                project=ctx.job.project_id,
                after=after,
                after_time=time,
                most=pages.PAGE,
            )

    done = 0
    async for page in pages.pages(read):
        yield page
        done += 1
        ctx.progress(done, text=f"page {done}")
