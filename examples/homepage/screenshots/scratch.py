"""A folder for one browser: profile, cache, whatever it leaves. Those of captures that were killed go with the next one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "homepage-shot-"
_ELSEWHERE = Path("/tmp")
_LONGEST = 107 - len("/homepage-shot-12345678/org.chromium.Chromium.123456/SingletonSocket")
"""Characters of the folder that ours are in: Chromium makes a socket in each, whose address has at most 107, or it ends."""
_YOUNG = 60.0
"""Seconds for which a folder may be there without its lock: between being made and being locked."""


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """The folder; while it is there temporary files of this process's children go into it, too."""
    root = Path(tempfile.gettempdir())
    if len(os.fsencode(root)) > _LONGEST:
        root = _ELSEWHERE
    _sweep(root)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
    before = os.environ.get("TMPDIR")
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.environ["TMPDIR"] = str(folder)
        yield folder
    finally:
        os.environ.pop("TMPDIR")
        if before is not None:
            os.environ["TMPDIR"] = before
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _sweep(root: Path) -> None:
    """Whoever holds a folder's lock is alive, also where its process is not to be seen from here."""
    for folder in root.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                facts = os.fstat(lock)
                if facts.st_uid == os.geteuid() and facts.st_mtime < time.time() - _YOUNG:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
