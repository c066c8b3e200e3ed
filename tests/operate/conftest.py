"""Jobs in every state, made by the functions that a worker calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from postmill.bind import run
from postmill.client import enqueue
from postmill.domain.job import NewJob
from postmill.domain.job_type import job
from postmill.domain.lifecycle import State
from postmill.store.jobs import job_state
from postmill.store.registration import register_job_types
from tests.support.tickets import changed


@job("greet", max_attempts=4)
def greet(name: str = "you") -> str:
    """Greets."""
    return f"hello {name}"


Make = Callable[..., UUID]


class Bench:
    """One worker session by hand, with a lease of an hour."""

    def __init__(self, conn: Connection[Any]) -> None:
        self.conn = conn
        self.holder = uuid4()
        self.claims = 0
        conn.execute(
            "select postmill.open_session(%s, 3600, 'w1', 'host', 7, '1', '{default}', '{}', '{}', '{}')",
            [self.holder],
        )

    def claim(self, id: UUID) -> int:
        """Claim exactly this job; the number of the claim."""
        self.claims += 1
        # A priority of its own for a moment: a claim takes what comes first in its lane.
        alone = -1_000_000 - self.claims
        row = self.conn.execute(
            "select queue, lane, priority from postmill.ready where id = %s", [id]
        ).fetchone()
        assert row is not None
        queue, lane, priority = row
        self._give_priority("ready", id, alone)
        found = self.conn.execute(
            "select id from postmill.claim(%s, %s, 1, %s::text[], %s::uuid[], %s::int[], '{NULL}', '{1}')",
            [self.holder, self.claims, [queue], [lane], [alone]],
        ).fetchall()
        assert found == [(id,)]
        self._give_priority("running", id, priority)
        return self.claims

    def _give_priority(self, table: str, id: UUID, priority: int) -> None:
        text = changed(table, "jsonb_build_object('priority', %s::int)", "id = %s")
        self.conn.execute(text.encode(), [id, priority])

    def report(self, function: str, id: UUID, rest: str) -> None:
        """Report by one of the worker's functions; `rest` are the arguments after the tenants."""
        claim_no = self.claim(id)
        tenant = UUID(int=1)
        missed = self.conn.execute(
            f"select * from postmill.{function}(%s, %s, %s, %s, {rest})",
            [self.holder, [id], [claim_no], [tenant]],
        ).fetchall()
        assert missed == []

    def make(self, state: State, new_job: NewJob | None = None) -> UUID:
        """A job in this state."""
        made = new_job or greet.new("Ada")
        if state is State.SCHEDULED:
            made = made.using(delay=3600)
        id = enqueue(self.conn, made).id
        match state:
            case State.BLOCKED:
                self.conn.execute(
                    "with r as (delete from postmill.ready where id = %s returning *) insert into"
                    " postmill.blocked select id, queue, lane, priority, attempt, run, lost from r",
                    [id],
                )
            case State.RUNNING:
                self.claim(id)
            case State.SUCCEEDED:
                self.report("complete", id, "'{5000}', array['{\"said\": \"hello\"}']::jsonb[]")
            case State.FAILED:
                self.report(
                    "finish", id, "'{5000}', '{failed}', '{failed}', '{permanent_error}', '{ValueError}'"
                )
            case State.CANCELED:
                self.report("finish", id, "'{5000}', '{canceled}', '{canceled}', '{canceled}'")
            case State.DEAD_LETTER:
                error = "'{5000}', '{failed}', '{max_retries_exceeded}', '{ValueError}', '{E1}', '{broken}', '{500}'"
                self.report("bury", id, error)
        assert self.state(id) is state
        return id

    def state(self, id: UUID) -> State | None:
        """Where the job is now."""
        found = run(self.conn, job_state([id]))
        return found[0].status if found else None


@pytest.fixture
def bench(pg: Connection[Any]) -> Bench:
    run(pg, register_job_types([greet]))
    return Bench(pg)
