"""`RSS_FEED_REFRESH`: hands over the sources that are due, each to a job of its own, so that each is tried again by itself."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.resources import database, feeds
from examples.homepage.rss import telemetry
from examples.homepage.rss.errors import FeedError
from examples.homepage.rss.refresh import read
from examples.homepage.rss.store import failed, succeeded, wait_of
from examples.homepage.statements import Row, row, rows
from postmill import Bury, Context, Idempotency, Mode, aenqueue_many

SOURCE_DISABLED = "source_disabled"
"""The reason of dead letters whose source has failed five times in a row."""


@handles(
    JobType.RSS_FEED_REFRESH,
    timeout=180,
    # A source has at most one job that waits or runs; what somebody forces does not wait for that one's next attempt.
    idempotency=Idempotency(Mode.ACTIVE, key="rss:{source_id}:{force_refresh}"),
    log_fields=("source_id",),
    escalation_fields=("source_id",),
    action="Read rss_sources.last_error_message; then PATCH /admin/api/rss-sources/{id}",
)
async def RssFeedRefreshHandler(
    ctx: Context, source_id: UUID | None = None, force_refresh: bool = False
) -> dict[str, Any]:
    """Refreshes one source, or without `source_id` all that are due; `force_refresh` asks even where nothing is due."""
    if source_id is None:
        return await _hand_over(ctx, force_refresh)
    async with ctx.resource(database).connection() as conn:
        source = await row(conn, "source_to_refresh", id=source_id)
    if source is None:
        telemetry.event("source.not_found", {"source_id": str(source_id)})
        ctx.log.warning("source_not_found")
        return {"skipped": "source.not_found"}
    if not source["is_active"]:
        telemetry.event("source.inactive", {"source_id": str(source_id)})
        return {"skipped": "source.inactive"}
    # A further attempt comes when the one before it has said.
    if ctx.attempt == 1 and not force_refresh and not source["due"]:
        return {"skipped": "not due"}
    return await _refresh(ctx, source)


[RssFeedRefreshScheduler] = schedules(JobType.RSS_FEED_REFRESH, RssFeedRefreshHandler)


async def _hand_over(ctx: Context, force: bool) -> dict[str, Any]:
    async with ctx.transaction() as transaction:
        due = await rows(transaction, "due_sources", force=force)
        made = await aenqueue_many(
            transaction.connection,
            [RssFeedRefreshHandler.new(source_id=source["id"], force_refresh=force) for source in due],
        )
        handed = sum(job.created for job in made)
        transaction.result = told = {"due": len(due), "handed_over": handed}
    if not due:
        telemetry.event("refresh.no_sources")
    else:
        # What is due and not handed over has a job already, which is at its next attempt.
        _completed(handed, len(due) - handed)
    return told


async def _refresh(ctx: Context, source: Row) -> dict[str, Any]:
    try:
        feed = await read(ctx.resource(feeds), source, ctx.log)
    except FeedError as error:
        await _count(ctx, source, error)
        raise
    async with ctx.transaction() as transaction:
        transaction.result = told = await succeeded(transaction, source, feed)
    source_id = str(source["id"])
    for status in ("new", "duplicate"):
        telemetry.items.labels(source_id=source_id, status=status).inc(told[status])
    telemetry.event("dedupe.completed", {"new": told["new"], "duplicate": told["duplicate"]})
    _completed(1, 0)
    return told


async def _count(ctx: Context, source: Row, error: FeedError) -> None:
    """One more error of the source; the fifth in a row disables it, and then this job is given up, for people to look at."""
    wait, unread = wait_of(error, source["moment"])
    if unread:
        ctx.log.warning("retry_after_unreadable", header=unread)
    async with ctx.resource(database).connection() as conn:
        now = await failed(conn, source, error, wait)
    ctx.log.warning("feed_failed", error=str(error), error_count=now["error_count"])
    _completed(0, 1)
    if not now["is_active"]:
        raise Bury(SOURCE_DISABLED) from error


def _completed(success: int, failure: int) -> None:
    telemetry.event("refresh.completed", {"sources.success": success, "sources.failure": failure})
