"""Where a case runs: a server of its own that is thrown away, or the database that was given."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from postmill.bench.ground import Ground
from postmill.local.server import LocalServer
from postmill.schema.runner import migrate
from postmill.store.catalog import sql

# Durable as in life. Enough for no checkpoint in the middle of a usual case.
SERVER = {"shared_buffers": "512MB", "max_wal_size": "4GB"}

Progress = Callable[[str], None]


class Place:
    """One database, in which every part of a case gets a fresh schema; nothing else there is touched."""

    def __init__(self, dsn: str, progress: Progress) -> None:
        self.dsn = dsn
        self.progress = progress

    def connect(self, **options: Any) -> psycopg.Connection[Any]:
        """An autocommit connection that takes `$n`; the caller closes it."""
        return psycopg.connect(
            self.dsn,
            autocommit=True,
            cursor_factory=psycopg.RawCursor,
            application_name="postmill bench",
            **options,
        )

    @contextmanager
    def ground(self, mark: str = "") -> Iterator[Ground]:
        """A migrated schema with the job types of the benchmarks; dropped at the end.

        Two at a time need different marks.
        """
        schema = f"postmill_bench_{os.getpid()}{mark}"
        with self.connect() as conn:
            conn.execute(sql("bench/drop_schema", schema).encode())
            try:
                migrate(conn, schema)
                yield Ground(self, conn, schema)
            finally:
                if not conn.closed:
                    conn.execute(sql("bench/drop_schema", schema).encode())

    def server(self) -> dict[str, str]:
        """The server's version and those settings that decide about figures."""
        with self.connect() as conn:
            return dict(conn.execute(sql("bench/server").encode()).fetchall())


@contextmanager
def placed(dsn: str | None, progress: Progress) -> Iterator[Place]:
    """The given database, or one on a server that is started for this and removed afterwards.

    Raises:
        LocalServerError: PostgreSQL's programs are not there, or the server did not start.
    """
    if dsn is not None:
        yield Place(dsn, progress)
        return
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="postmill-bench-"))
        progress("starting a PostgreSQL server")
        server = stack.enter_context(LocalServer(Path(folder), settings=SERVER))
        yield Place(server.dsn(), progress)
