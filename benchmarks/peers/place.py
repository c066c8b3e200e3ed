"""The PostgreSQL server under all systems of a run: Postmill's local one, or one given by its DSN."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
TOLD = (*DURABLE, "shared_buffers", "max_wal_size", "wal_level", "jit", "autovacuum", "max_connections")
# Enough for no checkpoint in the middle of a case; the same for all, and part of the record.
SERVER = {"shared_buffers": "512MB", "max_wal_size": "4GB"}
VARIABLES = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}


class Place:
    """One server; databases are made for a case and dropped after it."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    def dsn_of(self, database: str) -> str:
        """The server's DSN with another database."""
        return make_conninfo(self.dsn, dbname=database)

    def environment(self, database: str) -> dict[str, str]:
        """This process's environment with libpq's variables, which every peer's driver reads."""
        parts = conninfo_to_dict(self.dsn)
        pg = {name: str(parts[key]) for key, name in VARIABLES.items() if parts.get(key)}
        return {**os.environ, **pg, "PGDATABASE": database}

    def connect(self, database: str | None = None) -> psycopg.Connection[tuple[Any, ...]]:
        """An autocommit connection for the harness itself."""
        return psycopg.connect(self.dsn_of(database) if database else self.dsn, autocommit=True)

    @contextmanager
    def database(self, name: str) -> Iterator[str]:
        """An empty database with durable commits, dropped at the end."""
        title = sql.Identifier(name)
        with self.connect() as connection:
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(title))
            connection.execute(sql.SQL("create database {}").format(title))
            connection.execute(sql.SQL("alter database {} set synchronous_commit = on").format(title))
        try:
            yield name
        finally:
            with self.connect() as connection:
                connection.execute(sql.SQL("drop database if exists {} with (force)").format(title))

    def settle(self, database: str) -> None:
        """Fresh statistics and visibility, no dirty pages: every case starts alike."""
        with self.connect(database) as connection:
            connection.execute("vacuum (analyze)")
            connection.execute("checkpoint")

    def facts(self) -> dict[str, Any]:
        """Version and settings, for the record.

        Raises ValueError when the server would not keep what it has committed.
        """
        with self.connect() as connection:
            rows = connection.execute(
                "select name, current_setting(name) from pg_settings where name = any(%s)", [list(TOLD)]
            )
            settings = {str(name): str(value) for name, value in rows}
            (version,) = connection.execute("show server_version").fetchone() or ("unknown",)
        for name, wanted in DURABLE.items():
            if settings[name] != wanted:
                raise ValueError(f"the server has {name} = {settings[name]}: figures would not be comparable")
        return {"version": str(version), "settings": settings}


@contextmanager
def served(dsn: str | None, data: Path) -> Iterator[Place]:
    """The given server, or a fresh one of Postmill's own in the ``data`` folder, removed afterwards."""
    if dsn is not None:
        yield Place(dsn)
        return
    from postmill.local.server import LocalServer

    shutil.rmtree(data, ignore_errors=True)
    try:
        with LocalServer(data, settings=SERVER) as server:
            yield Place(server.dsn("postgres"))
    finally:
        shutil.rmtree(data, ignore_errors=True)
