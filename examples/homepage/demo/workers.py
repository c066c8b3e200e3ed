"""The workers: a process for each family of queues, and one more for DEFAULT, as one of the two is going to have an accident."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from psycopg import Connection

from examples.homepage.demo.data import rows
from examples.homepage.job_types import JobType
from examples.homepage.queues import DEFAULT, FAMILIES, SCREENSHOT
from examples.homepage.statements import FOLDER
from examples.staging.children import Child, ChildFailed
from postmill import Registry, Settings
from postmill.settings import load

MODULES = ("examples.homepage.jobs", "examples.homepage.previews.jobs")
START_WITHIN = 60.0
SECOND = "DEFAULT-2"
TWO = (DEFAULT.queue.name, SECOND)
"""Those of DEFAULT."""


def not_shown(served: Registry) -> dict[str, str]:
    """Types that cannot run on this machine, and why."""
    if JobType.SCREENSHOT_CAPTURE in served.names and shutil.which("chromium") is None:
        return {JobType.SCREENSHOT_CAPTURE.value: "not shown: apt-get install chromium"}
    return {}


def slots(settings: Settings, queue: str) -> str:
    """From a quarter of the design's number, as the work asks for (section 11); screenshots have theirs (P12)."""
    most = settings.queue(queue).slots
    if queue == SCREENSHOT.queue.name or not isinstance(most, int):
        return str(most)
    return f"{max(1, most // 4)}..{most}"


class Workers:
    """All of them, by name. They end with the stack."""

    def __init__(self, stack: ExitStack, folder: Path, env: Mapping[str, str], queues: Iterable[str]) -> None:
        self._stack, self._folder, self._env = stack, folder, env
        settings = load(FOLDER / "homepage.yaml", env=env)
        known = [family.queue.name for family in FAMILIES if family.queue.name in set(queues)]
        self._queues = {name: f"{name}={slots(settings, name)}" for name in known}
        self.children: dict[str, Child] = {}
        for name in (*self._queues, SECOND):
            self.start(name)

    def start(self, name: str) -> Child:
        """A worker of this name; in the place of one that has ended."""
        queue = DEFAULT.queue.name if name in TWO else name
        command = ["examples.staging.tied", "postmill", "worker", *MODULES, "--queues", self._queues[queue]]
        log = self._folder / f"worker-{name}.log"
        self.children[name] = self._stack.enter_context(Child(f"worker {name}", command, log, self._env))
        return self.children[name]

    def check(self) -> None:
        """Raises ChildFailed if one has ended by itself."""
        for child in self.children.values():
            child.check()

    def stop(self) -> None:
        """Ends all in order: what runs is finished or put back."""
        for child in self.children.values():
            child.stop()

    def serving(self, conn: Connection[Any]) -> set[str]:
        """The names of those that serve by now."""
        names = {str(child.pid): name for name, child in self.children.items()}
        return {names[row["pid"]] for row in rows(conn, "serving", pids=list(names))}

    def until_ready(self, conn: Connection[Any]) -> None:
        """Waits until all serve. Raises ChildFailed."""
        deadline = time.monotonic() + START_WITHIN
        while self.serving(conn) != set(self.children):
            self.check()
            if time.monotonic() > deadline:
                raise ChildFailed(f"the workers did not begin to serve within {START_WITHIN:g} s")
            time.sleep(0.1)
