"""Parses a document where it can do no harm: a small one in a thread, a larger one in a process with bounds of its own.

A document can be made so that a parser needs the square of its length in time, and holds the interpreter meanwhile: of 16 KiB
a second, of 300 an hour. So a worker, which has leases to renew, never parses a large one itself.

`python -m examples.homepage.rss.apart URL CONTENT-TYPE MOST` is that process: the document on stdin, JSON on stdout.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
from dataclasses import asdict
from datetime import datetime
from typing import Any

from examples.homepage.rss.entry import Entry
from examples.homepage.rss.errors import FeedError
from examples.homepage.rss.parse import Parsed, parse

SMALL = 16 * 1024
MOST_SECONDS = 20
"""Of processor."""
MOST_MEMORY = 1024**3


async def parse_apart(body: bytes, *, url: str, content_type: str, most: int) -> Parsed:
    """As `parse`. Raises FeedError also where a document takes too long, or too much memory."""
    if len(body) <= SMALL:
        return await asyncio.to_thread(parse, body, url=url, content_type=content_type, most=most)
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        *(url, content_type, str(most)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=_environment(),
    )
    try:
        answer, _ = await child.communicate(body)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return _read(answer, child.returncode)


def _environment() -> dict[str, str]:
    """No secrets: they are none of its business."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "LANG", "TZ") if name in os.environ
    }
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONSAFEPATH": "1"}


def _read(answer: bytes, code: int | None) -> Parsed:
    if code == -signal.SIGXCPU or code == -signal.SIGKILL:
        raise FeedError("parse_error", f"the document takes more than {MOST_SECONDS} s to parse")
    if code != 0:
        raise FeedError("parse_error", f"the document cannot be parsed within bounds (exit {code})")
    told: dict[str, Any] = json.loads(answer)
    if "error" in told:
        raise FeedError("parse_error", told["error"])
    told["entries"] = [_entry(fields) for fields in told["entries"]]
    return Parsed(**told)


def _entry(fields: dict[str, Any]) -> Entry:
    published = fields.pop("published_at")
    return Entry(**fields, published_at=datetime.fromisoformat(published) if published else None)


def main(arguments: list[str]) -> None:
    """Parse what comes in."""
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    url, content_type, most = arguments
    try:
        parsed = parse(sys.stdin.buffer.read(), url=url, content_type=content_type, most=int(most))
        told = asdict(parsed)
    except FeedError as fault:
        told = {"error": str(fault).removeprefix("parse_error: ")}
    sys.stdout.write(json.dumps(told, default=datetime.isoformat))


if __name__ == "__main__":
    main(sys.argv[1:])
