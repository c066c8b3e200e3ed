"""How a Python peer's program talks with the harness: JSON lines out, plain lines in.

Runs in the peers' own virtual environment, so it imports nothing of Postmill.
All times are nanoseconds of the monotonic clock, which every process of one machine shares.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol

REPORT_EVERY = 0.01


def say(**fields: Any) -> None:
    """Writes one JSON line for the harness."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def settings() -> dict[str, Any]:
    """The settings that the harness chose and records beside the figures."""
    chosen: dict[str, Any] = json.loads(os.environ["PEER_SETTINGS"])
    return chosen


async def lines() -> AsyncIterator[str]:
    """The harness's lines, until it closes the pipe."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        yield line.decode().strip()


class Tally:
    """Counts the jobs that this process's handler has seen.

    With ``trace`` each start is told at once (for latency); otherwise a count every 10 ms at most.
    """

    def __init__(self, trace: bool) -> None:
        self.trace = trace
        self.count = 0
        self.first = 0
        self._told = 0

    def hit(self, number: int) -> None:
        """One handler has started on the job with this number."""
        now = time.monotonic_ns()
        if not self.count:
            self.first = now
        self.count += 1
        if self.trace:
            say(started=number, at=now)

    async def report(self) -> None:
        """Tells the count whenever it has changed; ends by being cancelled."""
        while True:
            await asyncio.sleep(REPORT_EVERY)
            if self.count != self._told:
                self._told = self.count
                say(count=self.count, first=self.first)


class Peer(Protocol):
    """What each Python peer's program has to offer."""

    async def install(self) -> None:
        """Creates the peer's tables in an empty database."""

    async def bulk(self, jobs: int) -> None:
        """Enqueues in the peer's own batches, from one client."""

    async def one(self, number: int) -> None:
        """Enqueues and commits a single job."""

    async def work(self, tally: Tally, stop: asyncio.Event) -> None:
        """Runs jobs until told to stop."""


async def timed(jobs: int, call: Callable[[], Awaitable[None]]) -> None:
    """Runs the call and tells how long it took."""
    begin = time.monotonic_ns()
    await call()
    say(jobs=jobs, seconds=(time.monotonic_ns() - begin) / 1e9)


async def serve(peer: Peer, verb: str, argument: str) -> None:
    """Does what the command line says: install, bulk N, single N, ping or work [trace]."""
    if verb == "install":
        await peer.install()
        say(installed=True)
    elif verb == "bulk":
        await timed(int(argument), lambda: peer.bulk(int(argument)))
    elif verb == "single":
        await peer.one(0)

        async def singles() -> None:
            for number in range(1, int(argument)):
                await peer.one(number)

        await timed(int(argument) - 1, singles)
    elif verb == "ping":
        say(ready=True)
        async for line in lines():
            called = time.monotonic_ns()
            await peer.one(int(line))
            say(sent=int(line), called=called, returned=time.monotonic_ns())
    else:
        await _worker(peer, Tally(argument == "trace"))


async def _worker(peer: Peer, tally: Tally) -> None:
    stop = asyncio.Event()
    tasks: list[asyncio.Task[None]] = []
    say(ready=True)
    async for line in lines():
        if line == "go":
            tasks = [asyncio.create_task(peer.work(tally, stop)), asyncio.create_task(tally.report())]
        elif line == "stop":
            break
    stop.set()
    if tasks:
        await asyncio.wait_for(tasks[0], 60)
        tasks[1].cancel()
    say(count=tally.count, first=tally.first)
