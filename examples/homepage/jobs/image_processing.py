"""`IMAGE_PROCESSING`: makes the sizes of an uploaded picture, in a process of its own."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from examples.homepage.handling import handles
from examples.homepage.images.errors import ImageRefused
from examples.homepage.images.files import size_path, upload_path, write
from examples.homepage.images.render import Size, render
from examples.homepage.images.settings import ImageSettings, image_settings
from examples.homepage.job_types import JobType
from examples.homepage.statements import row, rows
from postmill import Context, Idempotency, Mode


@handles(
    JobType.IMAGE_PROCESSING,
    # A picture may crash a decoder, or keep it busy without end: neither is to be the worker's trouble.
    isolation="process",
    timeout=120,
    idempotency=Idempotency(Mode.ACTIVE, key="image:{image_id}"),
    log_fields=("image_id",),
    escalation_fields=("image_id",),
)
async def ImageProcessingHandler(ctx: Context, image_id: UUID) -> dict[str, Any]:
    """Makes the sizes, and takes the upload away, in which a camera's data are. A picture that cannot be read is refused for
    good, which whoever uploaded it sees; that is no failure of the job."""
    settings = image_settings()
    upload = upload_path(settings.folder, image_id)
    async with ctx.connection() as looking:
        image = await row(looking, "image_to_process", id=image_id)
    if image is None:
        return {"skipped": "no such image"}
    if image["status"] == "waiting":
        told = await _process(ctx, settings, image)
    else:
        told = {"skipped": image["status"]}
    upload.unlink(missing_ok=True)
    return told


async def _process(ctx: Context, settings: ImageSettings, image: dict[str, Any]) -> dict[str, Any]:
    data = await asyncio.to_thread(upload_path(settings.folder, image["id"]).read_bytes)
    try:
        if sha256(data).hexdigest() != image["checksum"]:
            raise ImageRefused("damaged", "the file is not the one that was uploaded")
        whole, sizes = await asyncio.to_thread(render, data, settings.edges, settings.most_pixels)
    except ImageRefused as refused:
        told: dict[str, Any] = {"refused": refused.reason}
        ctx.log.warning("image_refused", reason=refused.reason, error=str(refused))
        async with ctx.transaction() as transaction:
            await row(transaction, "image_refused", id=image["id"], reason=refused.reason)
            transaction.result = told
        return told
    for size in sizes:
        await asyncio.to_thread(write, size_path(settings.folder, size.checksum), size.data)
    made = Jsonb([_row(size) for size in sizes])
    told = {"sizes": [[size.width, size.height] for size in sizes]}
    async with ctx.transaction() as transaction:
        await rows(
            transaction, "image_ready", id=image["id"], width=whole.width, height=whole.height, sizes=made
        )
        transaction.result = told
    return told


def _row(size: Size) -> dict[str, Any]:
    return {"width": size.width, "height": size.height, "bytes": len(size.data), "checksum": size.checksum}
