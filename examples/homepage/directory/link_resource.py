"""What a worker process asks websites with."""

from __future__ import annotations

from collections.abc import AsyncIterator

from examples.homepage.directory.links import LinkChecker
from examples.homepage.directory.settings import from_environment
from examples.homepage.outbound.addresses import Addresses
from examples.homepage.settings import from_environment as common
from postmill import resource


@resource
async def links() -> AsyncIterator[LinkChecker]:
    """The checker of a worker process; all its jobs share the rules of how many are asked at once."""
    settings, ours = common(), from_environment()
    checker = LinkChecker(
        Addresses(settings.allow_private),
        user_agent=settings.user_agent,
        timeout=ours.link_timeout,
        most=ours.link_requests,
    )
    try:
        yield checker
    finally:
        await checker.aclose()
