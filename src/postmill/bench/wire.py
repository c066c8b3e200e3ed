"""How a process of a benchmark talks to the one that started it: an order on standard input, words after it,
and answers as lines of JSON on standard output."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

LOOK_EVERY = 0.01
"""Seconds between two looks of a process at its own count."""

TELL_EVERY = 0.2
"""Seconds between two messages with what was seen, so that telling costs next to nothing."""

_STATM = Path("/proc/self/statm")


def order() -> dict[str, Any]:
    """What this process is to do; the first line of its input. Not in argv: it holds the connection string."""
    found: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    return found


def tell(**facts: object) -> None:
    """One line for the parent."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def resident() -> int:
    """Bytes of memory that this process holds; 0 where the system does not tell."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


class Words:
    """The parent's words to a process with a loop. The end of the input is the end of the parent, thus `stop`."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(sys.stdin.fileno(), self._read)

    def _read(self) -> None:
        data = os.read(sys.stdin.fileno(), 4096)
        if b"go" in data:
            self.go.set()
        if not data or b"stop" in data:
            self.stop.set()
            self.go.set()
            self._loop.remove_reader(sys.stdin.fileno())

    async def report(
        self, count: Callable[[], int], working: asyncio.Task[None], more: Callable[[], dict[str, Any]] = dict
    ) -> None:
        """Tell how far `count` is, as `points` (moment, count), until the parent says stop or `working` ends."""
        points: list[tuple[float, int]] = []
        told_at = 0.0
        while True:
            now = perf_counter()
            points.append((now, count()))
            ended = self.stop.is_set() or working.done()
            if ended or now >= told_at + TELL_EVERY:
                tell(points=points, rss=resident(), **more())
                points, told_at = [], now
            if ended:
                return
            await asyncio.sleep(LOOK_EVERY)
