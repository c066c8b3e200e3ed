"""The server's life: start, stop, restart, crash, and what a killed owner leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from postmill.local.errors import LocalServerError
from postmill.local.launch import StopMode
from postmill.local.server import LocalServer
from tests.support.postgres import new_server

OWNER = """
import sys
from postmill.local.server import LocalServer
server = LocalServer(sys.argv[1]).start()
print(server.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalServer]:
    with new_server(tmp_path / "a folder, with spaces" / "data") as server:
        yield server


def ask(server: LocalServer, question: str) -> object:
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        row = conn.execute(question).fetchone()
        return row[0] if row else None


def test_data_is_kept_over_stop_and_start(server: LocalServer) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("create table kept as select 42 as answer")
    server.stop()
    assert server.pid is None
    with pytest.raises(RuntimeError, match="not been started"):
        server.dsn()
    with new_server(server.data) as again:
        assert ask(again, "select answer from kept") == 42


def test_one_server_and_one_owner(server: LocalServer) -> None:
    pid = server.pid
    assert pid is not None
    assert server.start().pid == pid
    with pytest.raises(LocalServerError, match=f"in use by process {os.getpid()}"):
        new_server(server.data).start()
    assert ask(server, "select 1") == 1
    assert os.getsid(pid) != os.getsid(0)  # Ctrl-C in the terminal is not for the server


def test_restart_keeps_the_address(server: LocalServer) -> None:
    modes: tuple[StopMode, ...] = ("smart", "fast", "immediate")
    for mode in modes:
        before, pid = server.dsn(), server.pid
        server.restart(mode)
        assert server.dsn() == before
        assert server.pid != pid
        assert ask(server, "select 1") == 1


def test_start_after_sigkill_recovers(server: LocalServer) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("create table kept as select 1 as answer")
        server.kill()
    assert server.pid is None
    assert (server.cluster / "postmaster.pid").exists()
    server.start()
    assert ask(server, "select answer from kept") == 1


def test_the_server_of_a_killed_owner_is_taken_over(tmp_path: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, tmp_path / "data"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with owner:
        assert owner.stdout is not None
        orphan = int(owner.stdout.readline())
        owner.kill()
    assert os.path.exists(f"/proc/{orphan}")
    with new_server(tmp_path / "data") as server:
        assert server.pid != orphan
        assert ask(server, "select 1") == 1


def test_port_listens_on_loopback_and_wants_the_password(tmp_path: Path, free_port: int) -> None:
    with LocalServer(tmp_path, port=free_port):
        password = tmp_path / "password"
        assert password.stat().st_mode & 0o077 == 0
        where = f"host=127.0.0.1 port={free_port} user=postgres dbname=postgres"
        with psycopg.connect(where, password=password.read_text()) as conn:
            assert conn.execute("show listen_addresses").fetchone() == ("127.0.0.1",)
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(where)


def test_a_server_that_cannot_start_says_why_and_lets_go(tmp_path: Path) -> None:
    broken = new_server(tmp_path / "data", settings={"max_connections": "many"})
    with pytest.raises(LocalServerError, match="max_connections"):
        broken.start()
    with new_server(tmp_path / "data") as server:
        assert ask(server, "select 1") == 1


def test_an_initdb_that_was_cut_off_is_begun_again(tmp_path: Path) -> None:
    half = tmp_path / "data" / "postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    with new_server(tmp_path / "data") as server:
        assert ask(server, "select 1") == 1
        assert not half.exists()


def test_settings_reach_the_server_and_stopping_leaves_no_socket_folder(tmp_path: Path) -> None:
    settings = {"work_mem": "5MB", "application_name": "a b"}
    server = new_server(tmp_path / "data", settings=settings).start()
    assert ask(server, "show work_mem") == "5MB"
    sockets = Path(server.dsn().split("host=")[1].split("&")[0])
    assert len(os.fsencode(sockets / ".s.PGSQL.65535")) <= 107
    assert sockets.stat().st_mode & 0o777 == 0o700
    server.stop()
    assert not sockets.exists()


def test_a_hung_stop_can_be_followed_by_a_harder_one(server: LocalServer) -> None:
    with psycopg.connect(server.dsn(), autocommit=True):
        with pytest.raises(subprocess.TimeoutExpired):
            server.stop("smart", timeout=0.2)
        server.stop("fast")
    assert server.pid is None


def test_a_stale_pid_of_another_program_is_left_alone(server: LocalServer) -> None:
    server.kill()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        lines = (server.cluster / "postmaster.pid").read_text().splitlines()
        (server.cluster / "postmaster.pid").write_text("\n".join([str(bystander.pid), *lines[1:]]) + "\n")
        server.start()
        assert bystander.poll() is None
        bystander.send_signal(signal.SIGKILL)
