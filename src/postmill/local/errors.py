"""What can go wrong with a local server, always with what to do about it."""

from __future__ import annotations

from postmill.domain.errors import PostmillError


class LocalServerError(PostmillError):
    """The local PostgreSQL server cannot be found, started or reached; the message says why."""
