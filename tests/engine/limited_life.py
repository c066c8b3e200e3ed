"""The state machine of the verbs under limits: of all jobs, of a tenant and of a job type whose jobs share a lane with others."""

from __future__ import annotations

from collections import Counter
from typing import Any, LiteralString
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from psycopg import Connection

from tests.engine.job_model import Job
from tests.engine.life import REGISTER, TENANTS, Life
from tests.support.limited import Limited
from tests.support.sessions import WorkerSession

TENANT, STRICT = 2, 1
SET_UP: LiteralString = (
    REGISTER
    + """;
    insert into postmill.tenant (id, slug, name, max_running)
    values ('00000000-0000-0000-0000-000000000002', 'capped', 'capped', 2) on conflict (id) do nothing;
    select postmill.door_set_limit('all', null, '{}', 3, null);
    select postmill.door_set_limit('type', 'strict', '{}', 1, null);
    update postmill.job_definition set limit_lane = null"""
)
"""The last line puts jobs of the limited type in front of others, as those are that waited when their limit was set."""


class LimitedLife(Life):
    set_up = SET_UP
    all = 3

    def _open(self, worker: WorkerSession) -> None:
        super()._open(Limited(self.conn, lease=worker.lease))

    @rule(most=st.integers(1, 5))
    def limit_all(self, most: int) -> None:
        self.conn.execute("select postmill.door_set_limit('all', null, '{}', %s, null)", (most,))
        self.conn.execute("update postmill.job_definition set limit_lane = null")
        self.all = most

    def _keys(self, job: Job) -> list[str]:
        capped = ["capped"] if job.tenant == TENANTS[1] else []
        return ["all", *capped, *(["strict"] if job.job_type == "strict" else [])]

    def _taken(self) -> Counter[str]:
        return Counter(
            key for job in self.model.jobs.values() if job.place == "running" for key in self._keys(job)
        )

    @rule(who=st.integers(0, 1), lane=st.integers(0, 3), n=st.integers(1, 5))
    def claim(self, who: int, lane: int, n: int) -> None:
        """Whoever is taken has room under each of its limits. Whoever is not has one that is full, or is under others than the
        first of its line, which the answer then says: it is the first of the next claim.
        """
        worker: Any = self.workers[-2 + who]
        lanes = worker.lanes()
        if not lanes:
            return
        _, which, priority = lanes[lane % len(lanes)]
        first = next(iter(self.model.line(which, priority)), None)
        held = worker.take(n, lanes=[("default", which, priority)])
        expected = self.model.claimable(which, priority, n) if self.model.is_alive(worker.holder) else []
        jobs = {job.id: job for job in expected}
        taken: set[UUID] = {line.id for line in held}
        assert taken <= jobs.keys()
        for line in held:
            job = jobs[line.id]
            job.place, job.fence, job.run = "running", (line.holder, line.claim_no), job.run + 1
            assert (line.attempt, line.run, line.lost, line.job_type, line.tenant) == (
                job.attempt, job.run, job.lost, job.job_type, job.tenant
            )  # fmt: skip
        most = {"all": self.all, "capped": TENANT, "strict": STRICT}
        seats = self._taken()
        assert all(seats[key] <= most[key] for line in held for key in self._keys(jobs[line.id]))
        for job in expected:
            seen = first is not None and first.id in taken | self.model.locked and self._keys(first)
            other = seen and self._keys(job) != seen and worker.told
            assert job.id in taken or other or any(seats[key] >= most[key] for key in self._keys(job))
        self.fences += held

    @invariant()
    def seats_are_those_of_the_jobs_that_run(self) -> None:
        if hasattr(self, "model"):
            seats = self.conn.execute(
                """select case s.limit_id when 0 then 'capped' else coalesce(r.job_type, r.name) end, count(*)
                     from postmill.seat s left join postmill.limit_rule r on r.id = s.limit_id group by 1"""
            ).fetchall()
            assert dict(seats) == dict(self._taken())


def limited_machine(conn: Connection[Any], caller: Connection[Any]) -> type[LimitedLife]:
    """The machine on these two connections; `caller` is whose transaction stays open."""
    return type("LimitedLife", (LimitedLife,), {"conn": conn, "caller": caller})
