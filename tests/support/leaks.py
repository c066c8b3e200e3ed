"""A leak fails the test that made it: threads, child processes (also unreaped ones), file descriptors.

Connections are looked for where the test's database is dropped (`databases.py`). What a test's fixtures
hold is let go before this fixture looks, since autouse fixtures are set up first and ended last. The zygote
(`spawner.py`) stays, and what it started is looked at as the test's own children are.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.spawner import lasting

PATIENCE = 20.0
"""Seconds that something may take to go after the test."""

_FDS = "/proc/self/fd"


@pytest.fixture(autouse=True)
def no_leaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail if the test left something behind. Tests that share an application are looked at together."""
    if _shares(request.module):
        yield
        return
    before = held()
    yield
    if found := left(before):
        pytest.fail("the test left behind: " + "; ".join(sorted(found)), pytrace=False)


@pytest.fixture(autouse=True, scope="module")
def no_leaks_of_the_module(request: pytest.FixtureRequest) -> Iterator[None]:
    """The same for modules whose tests share an application, which opens connections when it needs them."""
    if not _shares(request.module):
        yield
        return
    before = held()
    yield
    if found := left(before):
        pytest.fail("the module left behind: " + "; ".join(sorted(found)), pytrace=False)


def _shares(module: ModuleType) -> bool:
    marks = getattr(module, "pytestmark", [])
    return any(
        mark.kwargs.get("loop_scope") == "module" for mark in (marks if isinstance(marks, list) else [marks])
    )


def left(before: set[str]) -> set[str]:
    """What is there that was not there before, and does not go within `PATIENCE`."""
    if not held() - before:
        return set()
    began = time.monotonic()
    pause, thorough = 0.01, False
    while found := held() - before:
        if time.monotonic() > began + PATIENCE:
            return found
        if not thorough and time.monotonic() > began + PATIENCE / 4:
            # What earlier modules left was put aside (`garbage.py`): it may be garbage by now that holds on to this.
            gc.unfreeze()
            thorough = True
        # A collection takes up to a second, in which no other thread of this process runs: the pauses between must
        # be long enough for a thread to end in, on a machine that has other things to do.
        gc.collect()
        time.sleep(pause)
        pause = min(2 * pause, 0.5)
    return set()


def held() -> set[str]:
    """Every thread, child and descriptor, in words."""
    if not os.path.isdir(_FDS):
        return _threads()  # another system than Linux
    pid, descriptor = lasting() or (None, None)
    born = _children("self") - {pid}
    if pid is not None:
        born |= _children(pid)
    return _threads() | {f"process {_words(child)}" for child in born} | _descriptors(descriptor)


def _threads() -> set[str]:
    return {f"thread {thread.name} ({thread.ident})" for thread in threading.enumerate()}


def _children(parent: int | str) -> set[int]:
    found: set[int] = set()
    for task in os.listdir(f"/proc/{parent}/task"):
        try:
            with open(f"/proc/{parent}/task/{task}/children", encoding="ascii") as children:
                found.update(map(int, children.read().split()))
        except OSError:
            continue  # that thread has just ended
    return found


def _words(pid: int) -> str:
    try:
        argv = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        argv = ""
    return f"{pid} ({argv or 'ended, not waited for'})"


def _descriptors(but: int | None) -> set[str]:
    found = set()
    for entry in os.listdir(_FDS):
        if entry == str(but):
            continue
        try:
            found.add(f"descriptor {entry} ({os.readlink(f'{_FDS}/{entry}')})")
        except OSError:
            continue  # the listing's own
    return found
