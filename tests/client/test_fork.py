"""Case 23: a client that was used before a fork; each child has connections of its own, over TLS too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from postmill.client import Client
from postmill.local.server import LocalServer
from postmill.schema.runner import migrate
from tests.client.job_types import echo
from tests.support.postgres import bindir, new_server

CHILDREN = 4
EACH = 15

PROGRAM = f"""
import gc, os, sys
from postmill import Client, NewJob

client = Client(sys.argv[1])
client.enqueue(NewJob("echo", b'{{"value": 0}}', source_ref="before"))

def work(who):
    ids = [client.enqueue(NewJob("echo", b'{{"value": %d}}' % n, actor_id=who)).id for n in range({EACH})]
    assert [client.get(id).payload["value"] for id in ids] == list(range({EACH}))
    with client._pool.connection() as conn:
        client.enqueue(NewJob("echo", b'{{"value": 0}}', source_ref=str(conn.info.backend_pid)))

children = []
for n in range({CHILDREN}):
    pid = os.fork()
    if not pid:
        if n % 2:
            work(f"child {{n}}")
        else:  # some only end, with everything that they inherited
            client.close() if n % 4 else gc.collect()
            work(f"child {{n}}")
        sys.exit(0)
    children.append(pid)
work("parent")
assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * {CHILDREN}
work("parent, later")
"""


@pytest.fixture
def tls(tmp_path: Path, free_port: int) -> Iterator[str]:
    """Connection string of a server that is reached over TLS only; the wheel's PostgreSQL is built without it."""
    if shutil.which("openssl") is None:
        pytest.skip("not run: there is no openssl; apt-get install openssl")
    with new_server(tmp_path / "tls", major="15") as server:
        server.stop()
        _make_certificate(server.cluster)
    files = {"ssl": "on", "ssl_cert_file": "own.crt", "ssl_key_file": "own.key"}
    with LocalServer(tmp_path / "tls", bindir=bindir("15"), port=free_port, settings=files) as secure:
        migrate(secure.dsn())
        password = (secure.data / "password").read_text().strip()
        yield f"host=127.0.0.1 port={free_port} user=postgres dbname=postgres password={password} sslmode=require"


def test_children_have_connections_of_their_own(dsn: str) -> None:
    forks(dsn)


@pytest.mark.needs_debian15
def test_children_have_tls_streams_of_their_own(tls: str) -> None:
    with psycopg.connect(tls) as conn:
        assert conn.pgconn.ssl_in_use
    forks(tls)


def forks(conninfo: str) -> None:
    """Run the program, and look at what it left."""
    with Client(conninfo) as client:
        client.register([echo])
    given = [sys.executable, "-W", "ignore", "-c", PROGRAM, conninfo]
    done = subprocess.run(given, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with psycopg.connect(conninfo) as conn:
        assert _count(conn, "actor_id is not null") == (CHILDREN + 2) * EACH
        ends = conn.execute("select source_ref from postmill.any_job where source_ref <> 'before'").fetchall()
    # One backend per child at least, and the parent's.
    assert len(ends) == CHILDREN + 2
    assert len({backend for (backend,) in ends}) >= CHILDREN + 1


def _count(conn: psycopg.Connection[tuple[int]], condition: str) -> int:
    row = conn.execute(f"select count(*) from postmill.any_job where {condition}").fetchone()
    assert row is not None
    return row[0]


def _make_certificate(cluster: Path) -> None:
    key, certificate = cluster / "own.key", cluster / "own.crt"
    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    owner = cluster.stat()
    for file in (key, certificate):
        os.chown(file, owner.st_uid, owner.st_gid)
        file.chmod(0o600)
