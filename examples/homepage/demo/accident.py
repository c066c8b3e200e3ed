"""A worker is killed while it is busy, and replaced once people have been told."""

from __future__ import annotations

from examples.homepage.demo.data import rows
from examples.homepage.demo.look import Standing
from examples.homepage.demo.stage import Stage
from examples.homepage.demo.workers import TWO

AFTER = 2.0
"""Seconds until it happens."""
IDLE_AT_MOST = 5.0
"""Seconds for which it waits for the worker to be busy."""
REPLACED_AFTER = 30.0
"""Seconds after which the worker is replaced even if nobody was told that it is missing."""


class Accident:
    """It happens once; `notes` get a line for each thing that was done."""

    def __init__(self, stage: Stage, notes: list[str]) -> None:
        self._stage, self._notes = stage, notes
        self._killed = ""
        self._killed_at: float | None = None
        self._replaced = False

    def step(self, seconds: float, now: Standing) -> None:
        """What is due."""
        if self._killed_at is None:
            self._maybe_kill(seconds)
        elif not self._replaced:
            self._maybe_replace(seconds, self._killed_at, now)

    def _maybe_kill(self, seconds: float) -> None:
        """The one of DEFAULT's two workers that is busy."""
        if seconds < AFTER:
            return
        for name in TWO:
            victim = self._stage.workers.children[name]
            [found] = rows(self._stage.conn, "running_on", pid=str(victim.pid))
            if found["jobs"] or seconds >= AFTER + IDLE_AT_MOST:
                victim.kill()
                self._killed, self._killed_at = name, seconds
                jobs = "a job" if found["jobs"] == 1 else f"{found['jobs']} jobs"
                busy = f"with {jobs} in hand" if found["jobs"] else "while it was idle"
                self._notes.append(f"⚡ worker {name} (process {victim.pid}) was killed {busy}")
                return

    def _maybe_replace(self, seconds: float, killed_at: float, now: Standing) -> None:
        """As a supervisor would; this one waits until people have been told, so that one sees it."""
        missed = any(incident.kind == "stale_workers" for incident in now.incidents)
        if missed or seconds >= killed_at + REPLACED_AFTER:
            child = self._stage.workers.start(self._killed)
            self._replaced = True
            self._notes.append(f"↻ worker {self._killed} was replaced by process {child.pid}")
