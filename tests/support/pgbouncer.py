"""A real pgbouncer before a test's database."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from postmill.local.account import UNPRIVILEGED
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.ports import unused_port

CONFIG = """
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 200
"""


def program() -> str:
    """Where pgbouncer is; skips the test where it is not installed."""
    found = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        pytest.skip("not run: there is no pgbouncer; apt-get install pgbouncer")
    return found


@contextmanager
def pooled(database: Database, folder: Path, *, mode: str = "transaction", size: int = 8) -> Iterator[str]:
    """The URL of `database` through a pgbouncer with `size` connections to the server."""
    words = [program()]
    if os.geteuid() == 0:
        words += ["-u", next(name for name in UNPRIVILEGED if _exists(name))]
    server, listen = conninfo_to_dict(database.dsn), unused_port()
    file = folder / f"pgbouncer-{listen}.ini"
    file.write_text(
        CONFIG.format(
            host=server["host"], port=server["port"], user=server["user"], listen=listen, mode=mode, size=size
        )
    )
    dsn = f"postgresql://{server['user']}@127.0.0.1:{listen}/{database.name}"
    log = folder / f"pgbouncer-{listen}.log"
    with log.open("wb") as out:
        process = subprocess.Popen([*words, str(file)], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        eventually(lambda: _answers(dsn) or process.poll() is not None, what="pgbouncer answers")
        assert process.poll() is None, log.read_text()
        yield dsn
    finally:
        process.terminate()
        process.wait(10)


def _exists(account: str) -> bool:
    return any(line.startswith(f"{account}:") for line in Path("/etc/passwd").read_text().splitlines())


def _answers(dsn: str) -> bool:
    try:
        psycopg.connect(dsn).close()
    except psycopg.OperationalError:
        return False
    return True
