"""The chain of jobs: screenshot capture → image compression → upload to the CDN."""

from __future__ import annotations

from uuid import UUID

from examples.homepage.previews.jobs import (
    CdnUploadHandler,
    ThumbnailCompressionHandler,
    ThumbnailRemovalHandler,
)
from postmill import NewJob, Workflow


def preview(site_id: UUID, capture: NewJob) -> Workflow:
    """The steps of one site, of which `capture` is the first.

    Each waits for the one before it and reads its result. If the upload is given up, what was made for it is taken back,
    and the site's picture stays here as it is.
    """
    flow = Workflow("site preview", key=f"preview:{site_id}")
    flow.add("capture", capture)
    flow.add(
        "compress",
        ThumbnailCompressionHandler.new(site_id=site_id),
        after="capture",
        compensate=ThumbnailRemovalHandler.new(site_id=site_id),
    )
    flow.add("upload", CdnUploadHandler.new(site_id=site_id), after="compress")
    return flow
