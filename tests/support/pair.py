"""A PostgreSQL and its synchronous standby, reached by TCP from the hosts of a test; the standby can take over."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from postmill.local.account import account_for
from postmill.local.cluster import SUPERUSER
from postmill.local.launch import launch
from postmill.local.reach import reachable_bindir
from postmill.local.runtime import socket_folder
from tests.support.eventually import eventually
from tests.support.mould import TEMPLATE, Mould
from tests.support.ports import unused_port
from tests.support.postgres import SETTINGS, bindir

STANDBY = "standby"

RULES = """
local all,replication all trust
host all all 10.0.0.0/8 trust
host all all 127.0.0.0/8 trust
"""


class Server:
    """One of the two. It listens on every address, and lets in whoever comes from a host of the tests."""

    def __init__(self, cluster: Path) -> None:
        self.cluster = cluster
        self.port = unused_port()
        self.account = account_for(cluster)
        self.bindir = reachable_bindir(bindir(), self.account)
        self.sockets = socket_folder(cluster, self.account)
        self._process: subprocess.Popen[bytes] | None = None
        self._eye: psycopg.Connection[tuple[object, ...]] | None = None

    def start(self) -> None:
        """Start it, and wait until it is ready; a standby, until it can be read."""
        where = {
            "listen_addresses": "*",
            "port": str(self.port),
            "unix_socket_directories": str(self.sockets),
        }
        log = self.cluster.with_suffix(".log")
        self._process = launch(self.bindir, self.cluster, log, self.account, SETTINGS | where)

    def kill(self) -> None:
        """As if its machine had died."""
        if self._eye is not None:
            self._eye.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.sockets, ignore_errors=True)

    @property
    def eye(self) -> psycopg.Connection[tuple[object, ...]]:
        """A connection to look by, kept."""
        self._eye = self._eye or self.connect()
        return self._eye

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        """As the superuser, in autocommit."""
        return psycopg.connect(
            host=str(self.sockets), port=self.port, user=SUPERUSER, dbname=TEMPLATE, autocommit=True
        )


class Pair:
    """The primary and its standby."""

    def __init__(self, primary: Server, standby: Server) -> None:
        self.primary = primary
        self.standby = standby

    def url(self, host: str) -> str:
        """Both, as seen from a host that has this machine at that address; libpq finds the one that takes writes."""
        places = ",".join(f"{host}:{server.port}" for server in (self.primary, self.standby))
        return f"postgresql://{SUPERUSER}@{places}/{TEMPLATE}?target_session_attrs=read-write"

    def fail_over(self) -> None:
        """The primary dies in the middle of whatever it does; the standby is told to take over, and does."""
        self.primary.kill()
        with self.standby.connect() as conn:
            assert conn.execute("select pg_promote()").fetchone() == (True,)


@contextmanager
def pair(mould: Mould, folder: Path) -> Iterator[Pair]:
    """Both running, every commit on both before it is told."""
    primary = Server(mould.server(folder / "primary").cluster)
    (primary.cluster / "pg_hba.conf").write_text(RULES)
    try:
        primary.start()
        standby = Server(_copied(primary, folder))
        try:
            standby.start()
            with primary.connect() as conn:
                conn.execute(f"alter system set synchronous_standby_names = '{STANDBY}'")
                conn.execute("select pg_reload_conf()")
                synchronous = "select count(*) from pg_stat_replication where sync_state = 'sync'"
                eventually(lambda: conn.execute(synchronous).fetchone() == (1,), 30, "a synchronous standby")
            yield Pair(primary, standby)
        finally:
            standby.kill()
    finally:
        primary.kill()


def _copied(primary: Server, folder: Path) -> Path:
    """The files of a standby that follows by the primary's socket."""
    cluster = folder / "standby" / "postgres"
    cluster.mkdir(parents=True, mode=0o700)
    primary.account.give(cluster)
    source = f"host={primary.sockets} port={primary.port} user={SUPERUSER} application_name={STANDBY}"
    with primary.account.reach(cluster) as (path, descriptors):
        argv: list[str | Path] = [primary.bindir / "pg_basebackup", "--dbname", source, "--pgdata", path]
        argv += ["--checkpoint=fast", "--write-recovery-conf", "--no-sync"]
        done = subprocess.run(
            argv, capture_output=True, text=True, pass_fds=descriptors, **primary.account.options()
        )
    assert done.returncode == 0, done.stderr
    return cluster
