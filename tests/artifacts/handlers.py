"""Job types for workers that are processes of their own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from postmill import Context, job


@job
def slow(ctx: Context, flag: str) -> str:
    """Its first attempt never gets to the end of its file."""

    def pieces() -> Iterator[bytes]:
        yield b"x" * (3 << 20)
        if ctx.attempt == 1:
            Path(flag).touch()
            time.sleep(600)
        yield b"end"

    return str(ctx.artifacts.put("report.csv", pieces()).id)
