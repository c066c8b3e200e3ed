"""The data folder that all servers of a run are copied from: initdb and migrations take a second, a copy 50 ms.

The first test process that wants it makes it, for each version of PostgreSQL; the others wait. In it lies the template
of the databases of single tests, its catalogs packed: it is copied a thousand times.
"""

from __future__ import annotations

import fcntl
import subprocess
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from postmill.local.server import LocalServer
from postmill.schema.runner import migrate
from tests.support.postgres import bindir, new_server

TEMPLATE = "migrated"


class Mould:
    """Of the PostgreSQL that this run has."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._made = place / f"mould-{bindir().as_posix().strip('/').replace('/', '-')}"

    def server(self, data: Path) -> LocalServer:
        """A server in this folder, not started yet, with the template."""
        with open(self._place / "mould.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._made.exists():
                self._make()
        server = new_server(data)
        server.data.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", self._made, server.cluster], check=True)
        return server

    def _make(self) -> None:
        with new_server(self._made.with_suffix(".new")) as server:
            with psycopg.connect(server.dsn(), autocommit=True) as conn:
                conn.execute(SQL("create database {}").format(Identifier(TEMPLATE)))
            migrate(server.dsn(TEMPLATE))
            with psycopg.connect(server.dsn(TEMPLATE), autocommit=True) as conn:
                conn.execute("vacuum full")
        server.cluster.rename(self._made)


@pytest.fixture(scope="session")
def mould(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mould:
    """The one of this run, shared by the workers of xdist."""
    base = tmp_path_factory.getbasetemp()
    return Mould(base.parent if hasattr(request.config, "workerinput") else base)
