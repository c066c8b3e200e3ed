"""`SCREENSHOT_CAPTURE`: a picture of a site, for the directory. Each in a process of its own, which takes its browser along
whatever ends it."""

from __future__ import annotations

import asyncio
import os
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from examples.homepage.environment import read
from examples.homepage.handling import handles
from examples.homepage.job_types import JobType
from examples.homepage.outbound.addresses import Addresses
from examples.homepage.screenshots import files
from examples.homepage.screenshots.capture import Capture, capture
from examples.homepage.screenshots.settings import VARIABLES, ScreenshotSettings
from examples.homepage.settings import Settings, from_environment
from examples.homepage.statements import Row, row
from postmill import Context, Idempotency, Mode


@handles(
    JobType.SCREENSHOT_CAPTURE,
    isolation="process",
    timeout=120,
    worker_limit=3,  # P12; screenshot-concurrency of homepage.yaml wins over this
    idempotency=Idempotency(Mode.ACTIVE, key="screenshot:{site_id}"),
    log_fields=("site_id",),
    escalation_fields=("site_id",),
    action="Look at the URL that the error names; then `postmill dead replay` the job, or reject the site",
)
async def ScreenshotCaptureHandler(ctx: Context, site_id: UUID) -> dict[str, Any]:
    """Captures a site's page, and keeps the thumbnail in place of the one before; a failure leaves that one as it is."""
    settings, shots = from_environment(), read(ScreenshotSettings, VARIABLES, os.environ)
    site = await _site(settings, site_id)
    if site is None:
        ctx.log.warning("site_not_found")
        return {"skipped": "site.not_found"}
    made = await capture(site["url"], shots, Addresses(settings.allow_private))
    name = await asyncio.to_thread(files.keep, shots.folder, site_id, made.thumbnail.webp)
    async with ctx.transaction() as transaction:
        await row(transaction, "keep_screenshot", **_values(site, name, made))
        transaction.result = told = {"file": name, "url": made.shot.url, "whole": made.shot.whole}
    await asyncio.to_thread(files.clear, shots.folder, site_id, name)
    return told


async def _site(settings: Settings, site_id: UUID) -> Row | None:
    dsn = settings.database_url.get_secret_value()
    async with await AsyncConnection.connect(dsn, autocommit=True, application_name="homepage") as conn:
        return await row(conn, "site_to_capture", id=site_id)


def _values(site: Row, name: str, made: Capture) -> Row:
    small = made.thumbnail
    return {
        "site_id": site["id"],
        "url": site["url"],
        "final_url": made.shot.url,
        "title": made.shot.title,
        "status": made.shot.status,
        "whole": made.shot.whole,
        "file": name,
        "bytes": len(small.webp),
        "width": small.width,
        "height": small.height,
    }
