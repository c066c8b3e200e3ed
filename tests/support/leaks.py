"""A leak fails the test that made it: threads, child processes (also unreaped ones), file descriptors.

Connections are looked for where the test's database is dropped (`databases.py`). What a test's fixtures
hold is let go before this fixture looks, since autouse fixtures are set up first and ended last.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE = 5.0
"""Seconds that something may take to go after the test."""

_FDS = Path("/proc/self/fd")


@pytest.fixture(autouse=True)
def no_leaks() -> Iterator[None]:
    """Fail if the test left something behind."""
    before = _held()
    yield
    if left := _left(before):
        pytest.fail("the test left behind: " + "; ".join(sorted(left)), pytrace=False)


def _left(before: set[str]) -> set[str]:
    if not _held() - before:
        return set()
    deadline = time.monotonic() + PATIENCE
    while left := _held() - before:
        gc.collect()
        if time.monotonic() > deadline:
            return left
        time.sleep(0.01)
    return set()


def _held() -> set[str]:
    return _threads() | _children() | _descriptors()


def _threads() -> set[str]:
    return {f"thread {thread.name} ({thread.ident})" for thread in threading.enumerate()}


def _children() -> set[str]:
    found = set()
    for task in Path("/proc/self/task").glob("*/children"):
        try:
            found |= {f"process {_words(pid)}" for pid in task.read_text().split()}
        except OSError:
            continue  # that thread has just ended
    return found


def _words(pid: str) -> str:
    try:
        argv = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        argv = ""
    return f"{pid} ({argv or 'ended, not waited for'})"


def _descriptors() -> set[str]:
    found = set()
    for entry in os.listdir(_FDS) if _FDS.is_dir() else []:
        try:
            found.add(f"descriptor {entry} ({os.readlink(_FDS / entry)})")
        except OSError:
            continue  # the listing's own
    return found
