"""The tests' folders lie in memory where there is enough of it: making and dropping a database costs a tenth there.

What tests there is no durability against a loss of power: a server that is killed finds its files again in either
place. The folder of a passed run is removed at once, that of a failed or killed one by the next run. An explicit
`--basetemp` is obeyed.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
PREFIX = "pytest-postmill-"
ENOUGH = 3 * 1024**3
"""Bytes that must be free: a run needs about one GB, and containers often have 64 MB there."""

_OURS = pytest.StashKey[Path]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the folder; the workers of xdist get theirs inside it from the process that starts them."""
    if config.option.basetemp is None and _free() >= ENOUGH:
        _sweep()
        config.stash[_OURS] = MEMORY / f"{PREFIX}{os.getpid()}"
        config.option.basetemp = str(config.stash[_OURS])


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Nobody looks at what a passed run left."""
    if exitstatus == pytest.ExitCode.OK and (folder := session.config.stash.get(_OURS, None)):
        shutil.rmtree(folder, ignore_errors=True)


def _free() -> int:
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return 0
    facts = os.statvfs(MEMORY)
    return facts.f_bavail * facts.f_frsize


def _sweep() -> None:
    """Remove what other runs left; a server that still runs there sees that and ends within a minute."""
    for folder in MEMORY.glob(f"{PREFIX}*"):
        if not Path("/proc", folder.name.removeprefix(PREFIX)).exists():
            shutil.rmtree(folder, ignore_errors=True)
