"""Text from outside that is to be kept in PostgreSQL."""

from __future__ import annotations

from postmill.domain.text import clean

__all__ = ["clean"]
