"""The steps of a preview after its capture. They are no types of the registry, which has the design's fourteen: a worker serves
them besides, as `postmill worker examples.homepage.jobs examples.homepage.previews.jobs`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

from examples.homepage.images.render import render
from examples.homepage.previews.cdn import cdn
from examples.homepage.previews.settings import preview_settings
from examples.homepage.queues import BULK
from examples.homepage.screenshots import files
from examples.homepage.screenshots.settings import folder_of_pictures
from examples.homepage.statements import row
from postmill import Context, job

MOST_PIXELS = 16_000 * 1280
"""A page's picture has no more."""


@job("THUMBNAIL_COMPRESSION", queue=BULK.queue, priority=BULK.priority, log_fields=("site_id",))
async def ThumbnailCompressionHandler(ctx: Context, site_id: UUID) -> dict[str, Any]:
    """Makes the picture smaller that the capture has kept."""
    captured = ctx.parents["capture"].result
    if "file" not in captured:
        return {"skipped": captured["skipped"]}
    folder = folder_of_pictures()
    data = await asyncio.to_thread((folder / captured["file"]).read_bytes)
    _, [small] = await asyncio.to_thread(render, data, (preview_settings().edge,), MOST_PIXELS)
    name = await asyncio.to_thread(files.keep, _small(folder), site_id, small.data)
    await asyncio.to_thread(files.clear, _small(folder), site_id, name)
    return {"file": name, "of": captured["file"], "bytes": [len(data), len(small.data)]}


@job("THUMBNAIL_REMOVAL", queue=BULK.queue, priority=BULK.priority, log_fields=("site_id",))
async def ThumbnailRemovalHandler(ctx: Context, site_id: UUID) -> None:
    """Takes the compression back: what was not uploaded is of no use to anybody."""
    made = ctx.parents["compress"].result
    if "file" in made:
        await asyncio.to_thread((_small(folder_of_pictures()) / made["file"]).unlink, missing_ok=True)


@job(
    "CDN_UPLOAD",
    queue=BULK.queue,
    priority=BULK.priority,
    log_fields=("site_id",),
    escalation_fields=("site_id",),
    action="Is the storage zone of CDN_STORAGE_URL there, and does it take our key? Then replay the job.",
)
async def CdnUploadHandler(ctx: Context, site_id: UUID) -> dict[str, Any]:
    """Puts the small picture where visitors get it. What the site had there before is taken away afterwards."""
    made = ctx.parents["compress"].result
    if "file" not in made:
        return {"skipped": made["skipped"]}
    path, network = _small(folder_of_pictures()) / made["file"], ctx.resource(cdn)
    data = await asyncio.to_thread(path.read_bytes)
    url = await network.put(made["file"], data)
    async with ctx.transaction() as transaction:
        values = {"site_id": site_id, "file": made["file"], "url": url, "bytes": len(data)}
        before = await row(transaction, "keep_preview", **values)
        transaction.result = told = {"url": url}
    if before and before["file"] not in (None, made["file"]):
        await network.delete(before["file"])
    await asyncio.to_thread(path.unlink, missing_ok=True)
    return told


def _small(folder: Path) -> Path:
    """What waits for its upload."""
    return folder / "small"
