"""PostgreSQL refuses to run as root: under root its programs run as an unprivileged account.

That account need not be able to walk to the data folder (`/root` is closed to it, and opening up folders of
other people is not ours to do). The folder is opened before the privileges go, and named `/proc/self/fd/N`.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from postmill.local.errors import LocalServerError

UNPRIVILEGED = ("postgres", "nobody")
"""Accounts that the server may run as under root; the first that the machine has."""


class SpawnOptions(TypedDict, total=False):
    """Those keyword arguments of `subprocess.Popen` that decide as whom and where a program runs."""

    user: int
    group: int
    extra_groups: list[int]
    umask: int
    cwd: str
    env: dict[str, str]


@dataclass(frozen=True, slots=True)
class Account:
    """As whom the server runs. `dropped` is false where it is simply the caller's own account."""

    uid: int
    gid: int
    dropped: bool

    def options(self) -> SpawnOptions:
        """How to spawn a program as this account, with nothing of the caller's environment (PGDATA …)."""
        env = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
        options = SpawnOptions(umask=0o077, cwd="/", env=env)
        if self.dropped:
            options["user"], options["group"], options["extra_groups"] = self.uid, self.gid, []
        return options

    def give(self, folder: Path) -> None:
        """Make a folder inside the data folder the account's own."""
        if self.dropped:
            os.chown(folder, self.uid, self.gid)

    @contextmanager
    def reach(self, folder: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
        """A name under which the spawned program finds `folder`, and the descriptors that it must inherit."""
        if not (self.dropped and hasattr(os, "O_PATH")):
            yield str(folder), ()
            return
        descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            yield f"/proc/self/fd/{descriptor}", (descriptor,)
        finally:
            os.close(descriptor)


def account_for(cluster: Path) -> Account:
    """The account for a cluster folder: the caller, or under root the folder's owner or an unprivileged one.

    Raises:
        LocalServerError: a plain user starts a folder of somebody else, or root finds no account to drop to.
    """
    owner = cluster.stat() if cluster.exists() else None
    if os.geteuid() != 0:
        if owner and owner.st_uid != os.geteuid():
            raise LocalServerError(f"{cluster} belongs to another account; choose another data folder")
        return Account(os.geteuid(), os.getegid(), dropped=False)
    if owner and owner.st_uid != 0:
        return Account(owner.st_uid, owner.st_gid, dropped=True)
    for name in UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, dropped=True)
    raise LocalServerError(f"root cannot run PostgreSQL, and there is no account {' or '.join(UNPRIVILEGED)}")
