"""Single keys from a terminal, without waiting for the end of a line; nothing where there is none."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def keyboard() -> Iterator[Callable[[float], str]]:
    """Gives a function that waits so many seconds for a key, and answers it in lower case, or "" for none."""
    if not sys.stdin.isatty():
        yield _nothing
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield lambda seconds: _key(descriptor, seconds)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _nothing(seconds: float) -> str:
    time.sleep(seconds)
    return ""


def _key(descriptor: int, seconds: float) -> str:
    found, _, _ = select.select([descriptor], [], [], max(seconds, 0.0))
    return os.read(descriptor, 1).decode(errors="replace").lower() if found else ""
