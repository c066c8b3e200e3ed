"""What happens while the demo runs: schedules that need not wait for their hour, people's requests, and an accident."""

from __future__ import annotations

from examples.homepage.demo.data import rows
from examples.homepage.demo.demand import DEMAND, EVERY, Asking
from examples.homepage.demo.look import Standing
from examples.homepage.demo.stage import Stage
from examples.homepage.demo.workers import TWO

BETWEEN_RUNS = 1.0
BETWEEN_REQUESTS = 4.0
ACCIDENT_AFTER = 5.0
"""Seconds: between two schedules that are run by hand, between two requests of a portal, and until a worker is killed."""
IDLE_AT_MOST = 8.0
"""Seconds for which the accident waits for the worker to be busy."""
REPLACED_AFTER = 30.0
"""Seconds after which the worker is replaced even if nobody was told that it is missing."""


class Life:
    """One step after another, by the seconds that have gone by; `notes` tell what was done."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.notes: list[str] = []
        triggers = stage.root.every("/jobs/triggers", trigger_type="schedule")
        self._runs = [
            (item["id"], item["label"])
            for item in triggers
            if not item["label"].startswith(tuple(f"{portal.slug}: " for portal in stage.portals))
            and item["definition_key"] not in stage.missing
        ]
        self._run_at, self._request_at, self._requests = 0.0, 2.0, 0
        self._killed = ""
        self._killed_at: float | None = None
        self._replaced = False

    def step(self, seconds: float, now: Standing) -> None:
        """What is due."""
        if self._runs and seconds >= self._run_at:
            self._run_at = seconds + BETWEEN_RUNS
            id, _ = self._runs.pop(0)
            self._stage.root.post(f"/jobs/triggers/{id}/run")
        if seconds >= self._request_at:
            self._request_at = seconds + BETWEEN_REQUESTS
            self._ask()
        if self._killed_at is None:
            self._maybe_kill(seconds)
        elif not self._replaced:
            self._maybe_replace(seconds, now)

    def _ask(self) -> None:
        """People of each portal: a site is submitted, a picture uploaded, a message written."""
        for portal in self._stage.portals:
            for kind, payload in DEMAND.items():
                shown = kind in self._stage.served and kind not in self._stage.missing
                if shown and self._requests % EVERY[kind] == 0:
                    asking = Asking(self._stage.conn, portal.slug, self._requests, self._stage.told)
                    portal.enqueue(kind.value, payload(asking))
        self._requests += 1

    def _maybe_kill(self, seconds: float) -> None:
        """The one of DEFAULT's two workers that is busy."""
        if seconds < ACCIDENT_AFTER:
            return
        for name in TWO:
            victim = self._stage.workers.children[name]
            [found] = rows(self._stage.conn, "running_on", pid=str(victim.pid))
            if found["jobs"] or seconds >= ACCIDENT_AFTER + IDLE_AT_MOST:
                victim.kill()
                self._killed, self._killed_at = name, seconds
                jobs = "a job" if found["jobs"] == 1 else f"{found['jobs']} jobs"
                busy = f"with {jobs} in hand" if found["jobs"] else "while it was idle"
                self.notes.append(f"⚡ worker {name} (process {victim.pid}) was killed {busy}")
                return

    def _maybe_replace(self, seconds: float, now: Standing) -> None:
        """As a supervisor would; this one waits until people have been told, so that one sees it."""
        assert self._killed_at is not None
        missed = any(incident.kind == "stale_workers" for incident in now.incidents)
        if missed or seconds >= self._killed_at + REPLACED_AFTER:
            child = self._stage.workers.start(self._killed)
            self._replaced = True
            self.notes.append(f"↻ worker {self._killed} was replaced by process {child.pid}")
