"""Parents that end at the same instant never strand their child."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from postmill import NewJob, Workflow, start_workflow
from tests.support.sessions import Held, WorkerSession, complete

JOB = """insert into postmill.queue (name) values ('default') on conflict do nothing;
insert into postmill.job_definition (key, queue, max_attempts) values ('work', 'default', 3)"""


def rounds(database: Any, conn: Connection[Any], n: int, workers: int) -> None:
    """Each worker reports one parent and moves the workflow on as a worker does: at once, and again while another is at it."""
    conn.execute(JOB)
    flow = Workflow("fan in")
    names = [flow.add(f"p{i}", NewJob.of("work")) for i in range(workers)]
    flow.add("child", NewJob.of("work"), after=names)
    session = WorkerSession(conn, lease=3600.0)
    barrier = threading.Barrier(workers + 1)
    turn: list[Held] = []
    faults: list[BaseException] = []

    def work(i: int) -> None:
        try:
            with database.connect() as own:
                for _ in range(n):
                    barrier.wait()
                    held = turn[i]
                    complete(own, [held])
                    while own.execute("select postmill.advance_workflow(%s)", [held.workflow]).fetchone() == (
                        -1,
                    ):
                        pass
                    barrier.wait()
        except BaseException as fault:
            faults.append(fault)
            barrier.abort()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(n):
            id = start_workflow(conn, flow).id
            turn[:] = session.claim(workers)
            assert len(turn) == workers
            barrier.wait()
            barrier.wait()
            state = conn.execute(
                "select state from postmill.workflow_step where workflow_id = %s and name = 'child'", [id]
            )
            assert state.fetchone() == ("open",)
            child = session.claim(workers)
            assert len(child) == 1
            complete(conn, child)
            assert conn.execute("select postmill.advance_workflow(%s)", [id]).fetchone() == (1,)
    finally:
        barrier.abort()
        for thread in threads:
            thread.join()
    real = [fault for fault in faults if not isinstance(fault, threading.BrokenBarrierError)]
    assert not real
    left = conn.execute("select count(*) from postmill.workflow where status <> 'succeeded'").fetchone()
    assert left == (0,)


def test_thirty_times(database: Any, pg: psycopg.Connection[Any]) -> None:
    rounds(database, pg, 30, 6)


@pytest.mark.long
def test_a_thousand_times(database: Any, pg: psycopg.Connection[Any]) -> None:
    rounds(database, pg, 1000, 12)
