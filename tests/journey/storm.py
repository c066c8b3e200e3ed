"""Kills of workers and cancels of steps, at random moments."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from uuid import UUID

from tests.journey.conftest import Journey
from tests.support.fleet import WorkerProcess

MODULE = "tests.journey.flow_handlers"
SETTINGS = {"POSTMILL_WORKER__LEASE": "2", "POSTMILL_RETRY__MAX_LOST": "1000"}


@dataclass
class Storm:
    """What it has done."""

    journey: Journey
    rng: random.Random
    workers: list[WorkerProcess] = field(default_factory=list)
    kills: int = 0
    asked: set[UUID] = field(default_factory=set)
    """Jobs that somebody asked to cancel while they ran or waited."""
    ended: set[UUID] = field(default_factory=set)
    """Those of them that waited: they are over."""

    def start(self) -> WorkerProcess:
        return self.journey.fleet.start("--queues", "default=8", module=MODULE, settings=SETTINGS)

    def kill(self) -> None:
        """One of the workers, which another follows."""
        at = self.rng.randrange(len(self.workers))
        self.workers[at].kill()
        self.workers[at] = self.start()
        self.kills += 1

    def cancel(self, flow: UUID) -> None:
        """Some step that has not ended."""
        job = self.journey.all(
            "select job_id from postmill.workflow_step where workflow_id = %s and state in ('waiting', 'held', 'open')"
            " and role = 'step' order by md5(no::text || %s) limit 1", flow, str(self.rng.random()),
        )  # fmt: skip
        for (id,) in job:
            status = self.journey.one("select status from postmill.cancel_jobs(array[%s::uuid])", id)
            self.asked |= {id} if status in ("canceled", "requested") else set()
            self.ended |= {id} if status == "canceled" else set()

    def over(self, flows: list[UUID]) -> bool:
        """Is none of them on its way? One that is held is not."""
        return bool(
            self.journey.one(
                """select bool_and(status not in ('running', 'compensating')) and not exists (
                       select from postmill.workflow_inbox) from postmill.workflow where id = any (%s)""",
                flows,
            )
        )
