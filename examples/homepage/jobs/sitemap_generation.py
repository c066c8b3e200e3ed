"""`SITEMAP_GENERATION`: the addresses of the pages of all good sites that are alive, for search engines."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path

from examples.homepage.directory.generation import publish
from examples.homepage.directory.settings import from_environment
from examples.homepage.directory.sitemap import files
from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.resources import database
from examples.homepage.statements import rows
from postmill import Context, Idempotency, Mode


@handles(JobType.SITEMAP_GENERATION, idempotency=Idempotency(Mode.ACTIVE, key="sitemap_generation"))
async def SitemapGenerationHandler(ctx: Context) -> dict[str, int]:
    """Publishes one generation, as the directory is at one moment. The result: `urls` and `files`."""
    settings = from_environment()
    async with ctx.resource(database).connection() as conn:
        sites = await rows(conn, "sites_for_sitemap")
    pages: list[tuple[str, datetime]] = [
        (f"{settings.site_url}/good-sites/{site['id']}", site["updated_at"]) for site in sites
    ]
    folder, base = Path(settings.sitemap_folder), f"{settings.site_url}/sitemaps/"
    made = await asyncio.to_thread(publish, folder, base, files(pages))
    return {"urls": len(pages), "files": made}


[SitemapGenerationScheduler] = schedules(JobType.SITEMAP_GENERATION, SitemapGenerationHandler)
