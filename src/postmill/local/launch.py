"""Spawns the server and waits until it is ready."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from signal import SIGINT, SIGQUIT, SIGTERM
from typing import Literal

from postmill.local.account import Account
from postmill.local.errors import LocalServerError
from postmill.local.runtime import log_tail, postmaster_status

StopMode = Literal["smart", "fast", "immediate"]
SIGNALS = {"smart": SIGTERM, "fast": SIGINT, "immediate": SIGQUIT}

# The backends of a killed server hold this until they notice that it is gone: worth another try.
STILL_ENDING = "pre-existing shared memory block"


def launch(
    bindir: Path,
    cluster: Path,
    log: Path,
    account: Account,
    settings: Mapping[str, str],
    *,
    timeout: float = 60.0,
) -> subprocess.Popen[bytes]:
    """Start `postgres` on a cluster and wait until it is ready, crash recovery included; at most `timeout` s.

    Raises:
        LocalServerError: it ended or was not ready in time; carries the end of its log.
    """
    deadline = time.monotonic() + timeout
    while True:
        process = _spawn(bindir, cluster, log, account, settings)
        try:
            while process.poll() is None and time.monotonic() < deadline:
                if postmaster_status(cluster) == (process.pid, "ready"):
                    return process
                time.sleep(0.01)
        except BaseException:
            _end(process)
            raise
        said = log_tail(log)
        if _end(process) or STILL_ENDING not in said or time.monotonic() > deadline:
            raise LocalServerError(f"the server did not become ready; its log ends:\n{said}")
        time.sleep(0.1)


def _end(process: subprocess.Popen[bytes]) -> bool:
    """Kill a server that hangs; true if it did."""
    hung = process.poll() is None
    process.kill()
    process.wait()
    return hung


def _spawn(
    bindir: Path, cluster: Path, log: Path, account: Account, settings: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with account.reach(cluster) as (path, descriptors), log.open("ab") as out:
        # A session of its own: Ctrl-C in the terminal is for Postmill, which stops the server last.
        return subprocess.Popen(
            [bindir / "postgres", "-D", path, *options],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            pass_fds=descriptors,
            start_new_session=True,
            **account.options(),
        )


def listen_settings(sockets: Path, port: int | None) -> dict[str, str]:
    """Where the server listens: its private socket and, with a port, this machine's loopback address."""
    return {
        "listen_addresses": "" if port is None else "127.0.0.1",
        "port": str(port or 5432),
        "unix_socket_directories": str(sockets),
    }
