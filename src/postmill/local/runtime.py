"""The short private folder for a server's socket, and what an earlier server left running."""

from __future__ import annotations

import hashlib
import os
import signal
import stat
import subprocess
import tempfile
import time
from pathlib import Path

from postmill.local.account import Account
from postmill.local.errors import LocalServerError

TEMPORARY = Path("/tmp") if os.path.isdir("/tmp") else Path(tempfile.gettempdir())
"""Short on purpose: a socket's path must fit into 107 bytes, which $TMPDIR often breaks."""


def socket_folder(cluster: Path, account: Account) -> Path:
    """Make sure of the cluster's socket folder: the same at each start, mode 700, owned by the account.

    Raises:
        LocalServerError: somebody else made a folder of that name.
    """
    mark = hashlib.sha256(os.fsencode(cluster)).hexdigest()[:10]
    folder = TEMPORARY / f"postmill-{account.uid}-{mark}"
    if not os.path.lexists(folder):
        # Made by the account itself, so that nothing outside the data folder needs a change of owner.
        subprocess.run(["mkdir", "-m", "700", folder], check=True, **account.options())
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != account.uid or facts.st_mode & 0o077:
        raise LocalServerError(f"{folder} is not a private folder of ours; remove it and start again")
    return folder


def postmaster_status(cluster: Path) -> tuple[int, str] | None:
    """Process id and status (`starting`, `ready` …) that the server wrote down, if it did."""
    try:
        lines = (cluster / "postmaster.pid").read_text().splitlines()
        return int(lines[0]), lines[7].strip() if len(lines) > 7 else "starting"
    except (FileNotFoundError, IndexError, ValueError):
        return None


def end_orphan(cluster: Path, timeout: float = 60.0) -> None:
    """Stop the server that a killed Postmill process left running on this cluster, if there is one.

    Process ids are reused. One that works elsewhere is left alone and its claim on the folder removed, since
    PostgreSQL would refuse to start; whether backends of a dead server still hold its memory, PostgreSQL sees
    without that file. Where it cannot be told (no `/proc`, another account's process) nothing is done.
    """
    status = postmaster_status(cluster)
    ours = _works_in(status[0], cluster) if status else None
    if status is None or ours is None:
        return
    if not ours:
        (cluster / "postmaster.pid").unlink()
        return
    os.kill(status[0], signal.SIGINT)
    deadline = time.monotonic() + timeout
    while _works_in(status[0], cluster):
        if time.monotonic() > deadline:
            raise LocalServerError(f"the server of an earlier run (process {status[0]}) does not stop")
        time.sleep(0.02)


def _works_in(pid: int, folder: Path) -> bool | None:
    """Whether a process works in a folder; None if it has ended or does not say."""
    try:
        return os.path.samefile(f"/proc/{pid}/cwd", folder)
    except OSError:
        return None


def log_tail(log: Path, lines: int = 8) -> str:
    """The end of the server's log, for an error message."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return "\n".join(text.splitlines()[-lines:])
