"""Statements on who watches live pages."""

from __future__ import annotations

from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


def watch_live(server: UUID, seconds: float, *, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """Somebody watches live pages of this server, for so many seconds from now; 0: nobody does any more.

    Only while somebody watches anywhere are pings sent at all.
    """
    return Statement("watch_live", sql("live/watch_live", schema), (server, seconds), lambda _: None)
