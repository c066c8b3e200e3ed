"""What a worker process holds open for AI tagging: the client of the model."""

from __future__ import annotations

from collections.abc import AsyncIterator

from examples.homepage.tagging.service import AiTaggingService
from examples.homepage.tagging.settings import from_environment
from postmill import resource


@resource
async def tagger() -> AsyncIterator[AiTaggingService]:
    """The service of a worker process."""
    service = AiTaggingService(from_environment())
    try:
        yield service
    finally:
        await service.close()
