"""Takes a picture in."""

from __future__ import annotations

from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from psycopg import AsyncConnection

from examples.homepage.images.errors import ImageRefused
from examples.homepage.images.files import upload_path, write
from examples.homepage.images.settings import ImageSettings
from examples.homepage.job_types import JobType
from examples.homepage.statements import row
from postmill import NewJob, aenqueue


async def upload(conn: AsyncConnection[Any], listing_id: UUID, data: bytes, settings: ImageSettings) -> UUID:
    """Keep an upload, and enqueue the job that makes its sizes, in the caller's transaction; the image's id.

    Without a commit a file is left behind that nobody knows of, never a row without its file. Raises ImageRefused.
    """
    if len(data) > settings.most_bytes:
        raise ImageRefused("too_large", f"{len(data)} bytes; {settings.most_bytes} are allowed")
    image = uuid4()
    write(upload_path(settings.folder, image), data)
    checksum = sha256(data).hexdigest()
    await row(conn, "insert_image", id=image, listing_id=listing_id, bytes=len(data), checksum=checksum)
    await aenqueue(conn, NewJob.of(JobType.IMAGE_PROCESSING, {"image_id": str(image)}))
    return image
