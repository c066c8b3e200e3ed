"""Use cases of people: connect a Dropbox, make a list. What is written and the event that tells of it are one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg import Connection

from examples.photos.statements import run
from examples.photos.tokens import seal
from postmill import publish


def connect_provider(
    conn: Connection[Any], tenant_id: UUID, account_id: str, token: str, *, key: str, folder: str = "/"
) -> UUID:
    """Connect an account, or give it a new token. Event: `provider.connection.changed`."""
    with conn.transaction():
        row = run(
            conn, "connect_provider", tenant_id=tenant_id, account_id=account_id, folder=folder,
            sealed_token=seal(token, key),
        ).fetchone()  # fmt: skip
        assert row is not None
        provider: UUID = row[0]
        context = {"provider_id": str(provider), "folder_path": folder, "connected": True}
        publish(conn, "provider.connection.changed", context, tenant=tenant_id)
        return provider


def create_list(
    conn: Connection[Any], tenant_id: UUID, name: str, items: Mapping[UUID, Sequence[str]]
) -> UUID:
    """Make a list of pictures with the keywords that a person gave them. Event: `list.created`.

    Pictures of other tenants are left out, as if they were not there.
    """
    with conn.transaction():
        row = run(conn, "create_list", tenant_id=tenant_id, name=name).fetchone()
        assert row is not None
        made: UUID = row[0]
        for picture, keywords in items.items():
            run(conn, "add_to_list", list_id=made, picture_id=picture, keywords=list(keywords))
        publish(conn, "list.created", {"list_id": str(made), "name": name}, tenant=tenant_id)
        return made
