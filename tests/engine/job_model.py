"""What must become of jobs, in plain Python: the model beside which the state machine test holds the database.

Time is counted in whole hours. Everything happens a little after the full hour that the test's clock says, later things
later; so what was made at hour 3 for two hours is over at hour 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import md5
from itertools import count
from uuid import UUID

LEASE = 3
WINDOW = 3
KEY_KEPT = 24
MAX_LOST = 3
MAX_ATTEMPTS = {"plain": 3, "strict": 2}
WAITING = ("ready", "scheduled")
LIVE = (*WAITING, "running")

KeyId = tuple[UUID, str]
Fence = tuple[UUID, int]


def _half(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()[:16]


@dataclass
class Job:
    id: UUID
    job_type: str
    tenant: UUID
    key: str | None
    priority: int
    place: str
    order: tuple[object, ...]
    attempt: int = 1
    run: int = 0
    lost: int = 0
    attempts: int = 0
    fence: Fence | None = None
    cancel: bool = False
    refused: bool = False
    replays: list[UUID] = field(default_factory=list)

    @property
    def lane(self) -> UUID:
        """Its tenant's, or its type's beside it."""
        if not self.refused:
            return self.tenant
        return UUID(hex=_half(f"refused:{self.job_type}") + _half(str(self.tenant)))

    def end(self, place: str) -> None:
        self.place, self.fence = place, None

    @property
    def facts(self) -> list[object]:
        """What its ticket or outcome says."""
        fence = [str(self.fence[0]), self.fence[1]] if self.fence else []
        return [self.place, self.attempt, self.run, self.lost, *fence]


@dataclass
class Key:
    job_id: UUID
    job_type: str
    mode: str
    seen: int
    expires: int | None

    @staticmethod
    def of(job_id: UUID, job_type: str, mode: str, now: int) -> Key:
        return Key(job_id, job_type, mode, now, now + WINDOW if mode in ("window", "ttl") else None)


class Model:
    """All jobs that were committed, the keys, and since when each session is dead."""

    def __init__(self) -> None:
        self.now = 0
        self.jobs: dict[UUID, Job] = {}
        self.keys: dict[KeyId, Key] = {}
        self.leases: dict[UUID, int] = {}
        self.locked: set[UUID] = set()  # tickets held by a caller's open transaction
        self._ticks = count()

    def moment(self) -> tuple[int, int]:
        """Now, exactly: later ones are greater."""
        return self.now, next(self._ticks)

    def after(self, hours: int) -> tuple[int, int]:
        return self.now + hours, next(self._ticks)

    def is_alive(self, holder: UUID) -> bool:
        return self.leases.get(holder, -1) > self.now

    def is_live_key(self, key: Key, jobs: dict[UUID, Job] | None = None) -> bool:
        job = (jobs or self.jobs).get(key.job_id)
        if key.mode == "active":
            return job is not None and job.place in LIVE
        if key.mode == "queued":
            return job is not None and job.place in WAITING
        assert key.expires is not None
        return key.expires > self.now

    def line(self, lane: UUID, priority: int) -> list[Job]:
        """Those of a lane that are ready, by the moment at which they became so."""
        ready = [job for job in self.jobs.values() if job.place == "ready"]
        here = [job for job in ready if (job.lane, job.priority) == (lane, priority)]
        return sorted(here, key=lambda job: job.order)

    def claimable(self, lane: UUID, priority: int, n: int) -> list[Job]:
        """The next `n` of a lane that nobody's transaction holds."""
        return [job for job in self.line(lane, priority) if job.id not in self.locked][:n]

    def promote(self, at_their_time: set[UUID]) -> list[Job]:
        due = [
            job
            for job in self.jobs.values()
            if job.place == "scheduled" and job.order[0] <= self.now and job.id not in self.locked  # type: ignore[operator]
        ]
        for job in sorted(due, key=lambda job: (*job.order, job.id)):
            # Who is promoted more than a second late stands where it would have stood at its time.
            late = job.id in at_their_time
            assert late or job.order[0] == self.now
            job.place, job.order = "ready", job.order if late else self.moment()
        return due

    def ready_again(self, jobs: Iterable[Job]) -> None:
        for job in sorted(jobs, key=lambda job: job.id):
            job.place, job.fence, job.order = "ready", None, self.moment()

    def later(self, jobs: Iterable[Job], hours: int) -> None:
        """One statement, so one moment for all of them."""
        due = self.after(hours)
        for job in jobs:
            job.place, job.fence, job.order = "scheduled", None, due

    def rescue(self) -> dict[UUID, str]:
        """Id to verdict of everything that a dead session held."""
        verdicts = {}
        back = []
        for job in self.jobs.values():
            if job.place != "running" or job.fence is None or self.is_alive(job.fence[0]):
                continue
            exhausted = job.attempt >= MAX_ATTEMPTS[job.job_type] or job.lost > MAX_LOST + 1
            job.lost += (
                job.lost < 2
            )  # the second loss makes it a suspect; from there on only its child counts
            if job.cancel:
                verdict, job.cancel = "canceled", False
            elif exhausted:
                verdict = "failed" if job.job_type == "strict" else "dead_letter"
            else:
                verdict = "scheduled"
                job.attempt += 1
                back.append(job)
            job.attempts += verdict in ("scheduled", "dead_letter")
            if verdict != "scheduled":
                job.end(verdict)
            verdicts[job.id] = verdict
        self.later(back, 0)
        return verdicts

    def cancel(self, ids: Iterable[UUID]) -> dict[UUID, str]:
        answers = {}
        for id in ids:
            job = self.jobs.get(id)
            if job is None:
                answers[id] = "unknown"
            elif job.place in WAITING and id not in self.locked:
                answers[id] = "canceled"
                job.attempt -= 1  # the one that waited was never made
                job.cancel = False
                job.end("canceled")
            elif job.place in LIVE:
                answers[id] = "requested"
                job.cancel = True
            else:
                answers[id] = "finished"
        return answers

    def sweep(self, locked_keys: set[KeyId]) -> None:
        self.cancel(
            [
                id
                for id, job in self.jobs.items()
                if job.cancel and job.place in WAITING and id not in self.locked
            ]
        )
        for job in self.jobs.values():
            if job.place not in LIVE:
                job.cancel = False
        # After the requests: a job that has ended by one of them holds its key no longer.
        for id, key in list(self.keys.items()):
            job = self.jobs.get(key.job_id)
            live = job is not None and job.place in LIVE
            spent = (
                key.expires <= self.now
                if key.expires is not None
                else key.seen + KEY_KEPT <= self.now and not live
            )
            if spent and id not in locked_keys:
                del self.keys[id]
