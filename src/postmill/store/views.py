"""Statements on views that somebody saved: lists with a name."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class SavedView:
    """A list of a page that somebody named; `query` is the query string of its address.

    `shared`: everybody in its scope sees it. `own`: whoever asks has saved it.
    """

    id: UUID
    name: str
    query: str
    shared: bool
    own: bool
    actor_id: str | None


@dataclass(frozen=True, slots=True)
class KeptView:
    """`status`: saved | replaced | full (there are 100 of one's own on this page)."""

    id: UUID | None
    status: str


def read_saved_views(page: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[SavedView]]:
    """One's own views of a page, and those that others in the scope share."""
    return Statement(
        "read_saved_views",
        sql("console/read_saved_views", schema),
        (page,),
        lambda rows: [SavedView(*row) for row in rows],
    )


def door_save_view(
    page: str,
    name: str,
    query: str,
    *,
    shared: bool = False,
    actor_type: str | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[KeptView]:
    """Keeps a list under a name; one's own of that name is replaced."""
    return Statement(
        "door_save_view",
        sql("console/door_save_view", schema),
        (page, name, query, shared, actor_type, actor_id),
        lambda rows: KeptView(*rows[0]),
    )


def door_delete_view(
    id: UUID,
    *,
    any: bool = False,
    actor_type: str | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[str]:
    """Deletes one's own view; with `any` also one that somebody else shares. deleted | unknown."""
    return Statement(
        "door_delete_view",
        sql("console/door_delete_view", schema),
        (id, any, actor_type, actor_id),
        lambda rows: str(rows[0][0]),
    )
