"""What keeps requests within their tenants, and what to do where the migrating role could not make it."""

from __future__ import annotations

from postmill.bind import run as statement
from postmill.cli.lookups import Connection
from postmill.cli.run import Run
from postmill.store.access import entrances

SECURE = """as a role that may make roles, run
      create role {schema}_reader nologin; create role {schema}_request nologin;
      grant {schema}_reader, {schema}_request to "<the schema's owner>" with admin option;
    then as the owner: select {schema}.secure_requests();
    and for a server that is not the owner: select {schema}.grant_server('<its role>');"""
"""What to do where requests cannot be served."""


def warn_if_unsecured(run: Run, conn: Connection) -> None:
    """After a migration: says what an HTTP server will lack, while somebody who can help is looking."""
    missing = statement(conn, entrances(schema=run.schema)).unsecured
    if missing is not None:
        run.out.warn(
            f"no HTTP server can start on this schema yet: {missing}", SECURE.format(schema=run.schema)
        )
