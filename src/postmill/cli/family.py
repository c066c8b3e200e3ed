"""The parent of several worker processes: spawns them by command line, waits for their drain, adds up."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

import uvloop

from postmill.cli.exits import ExitCode
from postmill.cli.given import Given
from postmill.cli.process import TIMES, Summary, times
from postmill.cli.readiness import DatabaseWatch
from postmill.cli.signals import Stopper
from postmill.engine.supervisor import ChildDied, Supervisor

Told = Callable[[str], object]

LOOK_EVERY = 0.1
"""Seconds between two looks whether the children are ready."""


def child_command(words: Sequence[str], given: Given) -> list[str]:
    """A command line of ours for a child, with the options of every command but --dsn: passwords go by environment."""
    shared: list[str] = []
    for option, value in (("--config", given.config), ("--schema", given.schema), ("--cell", given.cell)):
        if value is not None:
            shared += [option, str(value)]
    if given.debug:
        shared.append("--debug")
    return [sys.executable, "-m", "postmill", *words, *shared]


class Family:
    """Runs worker processes until all have drained.

    Args:
        dsn, schema: the database, which is waited for before the first process starts.
        commands: makes the command line of each child; the argument is a file in which it leaves its summary.
        processes: how many.
        grace: seconds that a drain may take.
        ready: a URL that answers 200 once the children work, and what to do then, once.
        told: takes lines for people.
    """

    def __init__(
        self,
        dsn: str,
        schema: str,
        commands: Callable[[int, Path], Sequence[str]],
        processes: int,
        *,
        grace: float,
        told: Told,
        ready: tuple[str, Callable[[], object]] | None = None,
    ) -> None:
        self._watch = DatabaseWatch(dsn, schema, told)
        self._stopper = Stopper(self._watch, told=told)
        self._commands = commands
        self._processes = processes
        self._grace = grace
        self._told = told
        self._ready = ready
        self.summary: Summary = {}

    def run(self) -> int:
        """The exit code: 0 if all drained cleanly."""
        with tempfile.TemporaryDirectory(prefix="postmill-worker-") as folder:
            files = [Path(folder) / f"{index}.json" for index in range(self._processes)]
            began = time.monotonic()
            code = uvloop.run(self._main(files))
            self.summary = added_up(files) | times(began, self._stopper)
        return code

    async def _main(self, files: Sequence[Path]) -> int:
        self._stopper.install()
        if not await self._watch.ready():
            return self._stopper.exit_code
        commands = [self._commands(index, file) for index, file in enumerate(files)]
        supervisor = Supervisor(commands, grace=self._grace, hopeless=ExitCode.RESOURCE, told=self._died)
        self._stopper.retarget(supervisor)
        looking = None
        if self._ready is not None:
            looking = asyncio.create_task(_when_ready(*self._ready, lambda: supervisor.pids))
        try:
            code = await supervisor.run()
        finally:
            if looking is not None:
                looking.cancel()
        return self._stopper.exit_code or code

    def _died(self, event: ChildDied) -> None:
        self._told(str(event))


def added_up(files: Sequence[Path]) -> Summary:
    """The sum of what the children left; one that was killed left nothing."""
    total: Summary = {}
    for file in files:
        if file.exists():
            for name, value in json.loads(file.read_text(encoding="utf-8")).items():
                if name not in TIMES:
                    total[name] = total.get(name, 0) + value
    return total


async def _when_ready(url: str, act: Callable[[], object], pids: Callable[[], list[int]]) -> None:
    while True:
        if await asyncio.to_thread(_answers, url) in pids():
            act()
            return
        await asyncio.sleep(LOOK_EVERY)


def _answers(url: str) -> int | None:
    """The process id of the worker that says it is ready there: it may be somebody else's."""
    try:
        with urllib.request.urlopen(url, timeout=1.0) as answer:
            return int(json.load(answer)["worker_id"].split(":")[-2]) if answer.status == 200 else None
    except (OSError, ValueError, LookupError, AttributeError, TypeError):
        return None
