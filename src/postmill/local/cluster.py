"""The cluster's files in a data folder: made once by initdb, whole or not at all."""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import IO

from postmill.local.account import Account, account_for
from postmill.local.binaries import find_bindir
from postmill.local.errors import LocalServerError
from postmill.local.reach import reachable_bindir
from postmill.local.runtime import end_orphan

SUPERUSER = "postgres"


def lock_data(data: Path) -> IO[str]:
    """Hold the data folder for this process until the returned file is closed or the process ends.

    Raises:
        LocalServerError: another process holds it.
    """
    data.mkdir(parents=True, exist_ok=True)
    lock = open(data / "lock", "a+")  # noqa: SIM115 - it stays open as long as the server is ours
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        holder = lock.read().strip() or "unknown"
        lock.close()
        raise LocalServerError(
            f"data folder {data} is in use by process {holder}; stop that one first"
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def cluster_major(cluster: Path) -> int | None:
    """The major version that made the cluster, or None if there is none yet."""
    version = cluster / "PG_VERSION"
    return int(version.read_text()) if version.exists() else None


def prepare(cluster: Path, bindir: str | Path | None) -> tuple[Path, Account]:
    """Make a cluster ready to be started: made, free, and with the programs and the account that fit it."""
    account = account_for(cluster)
    programs = reachable_bindir(find_bindir(bindir, major=cluster_major(cluster)), account)
    ensure_cluster(cluster, programs, account)
    end_orphan(cluster)
    return programs, account


def ensure_cluster(cluster: Path, bindir: Path, account: Account) -> None:
    """Run initdb unless the cluster is there. Done beside it and renamed, so that a killed one leaves none.

    Raises:
        LocalServerError: initdb failed, and its words; or it would, for a user id without a name.
    """
    if cluster_major(cluster) is not None:
        return
    _require_name(account)
    fresh = cluster.with_name(cluster.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    account.give(fresh)
    with account.reach(fresh) as (path, descriptors):
        argv: list[str | Path] = [
            bindir / "initdb",
            "--pgdata",
            path,
            "--username",
            SUPERUSER,
            "--encoding",
            "UTF8",
            "--no-locale",
        ]
        argv += ["--auth-local", "trust", "--auth-host", "scram-sha-256"]
        done = subprocess.run(
            argv, check=False, capture_output=True, text=True, pass_fds=descriptors, **account.options()
        )
    if done.returncode != 0:
        raise LocalServerError(f"initdb failed: {done.stderr.strip() or done.stdout.strip()}")
    fresh.rename(cluster)


def _require_name(account: Account) -> None:
    """Containers run as ids of nobody; initdb refuses those in words that do not say what to do."""
    try:
        pwd.getpwuid(account.uid)
    except KeyError:
        raise LocalServerError(
            f"PostgreSQL wants an account with a name, and the user id {account.uid} has none; give it a line in"
            f" /etc/passwd (container:x:{account.uid}:{account.gid}::/tmp:/bin/sh), or use a server elsewhere by --dsn"
        ) from None
