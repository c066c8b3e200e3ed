"""Workflows that cannot be, through SQL and Python: a clear error, and nothing inserted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from psycopg import Connection

from postmill import NewJob, PostmillError, Workflow, start_workflow
from tests.support.flows import advance, status_of
from tests.support.sessions import WorkerSession, bury, complete, one, promote, shifted
from tests.workflows.refused import COUNT, JOB, SQL, step


def test_through_sql(pg: Connection[Any]) -> None:
    pg.execute(JOB)
    for spec, why in SQL:
        status, detail = one(
            pg, "select status, detail from postmill.start_workflow(%s::jsonb)", json.dumps(spec)
        )
        assert (status, why in detail) == ("invalid", True), (spec if len(str(spec)) < 300 else "", detail)
    with pytest.raises(Exception, match='no workflow "f" was made: there is no job type "wrok"'):
        one(pg, "select postmill.workflow('f', %s::jsonb)", json.dumps([step(job_type="wrok")]))
    assert one(pg, COUNT) == 0
    # Names may be anything that can be stored, and two tenants may have one key.
    names = ["é" * 100, "a b\tc", "'; drop table workflow; --", "🪵", "null", "{}"]
    flow = Workflow("日本 🪵", key="k")
    for n, name in enumerate(names):
        flow.add(name, NewJob.of("work"), after=names[:n])
    id = start_workflow(pg, flow).id
    session = WorkerSession(pg)
    for _ in names:
        complete(pg, session.claim(10))
        advance(pg)
    assert status_of(pg, id) == "succeeded"


def test_through_python(pg: Connection[Any]) -> None:
    pg.execute(JOB)
    for name in ("", "x" * 201, "\x00", "\ud800"):
        with pytest.raises(PostmillError, match="name"):
            Workflow(name)
        with pytest.raises(PostmillError, match="name"):
            Workflow("f").add(name, NewJob.of("work"))
    with pytest.raises(PostmillError, match="'pray' is none of cancel, continue, hold"):
        Workflow("f").add("a", NewJob.of("work"), parent_failure="pray")  # type: ignore[arg-type]
    crowd = Workflow("crowd")
    names = [crowd.add(f"s{n}", NewJob.of("work")) for n in range(400)]
    for n in range(251):
        crowd.add(f"t{n}", NewJob.of("work"), after=names)
    with pytest.raises(PostmillError, match="100400 lines"):
        start_workflow(pg, crowd)
    assert one(pg, COUNT) == 0


def test_what_is_enqueued_at_the_end_waits_as_it_was_told_to(pg: Connection[Any]) -> None:
    """The delay of a compensation counts from the end of the one before, that of a callback from the end of all."""
    pg.execute(JOB)
    flow = Workflow("slow", on_finish=NewJob.of("work", {"last": True}, delay=60.0))
    flow.add("a", NewJob.of("work"), compensate=NewJob.of("work", {"undo": "a"}, delay=60.0))
    flow.add("b", NewJob.of("work"), after="a", compensate=NewJob.of("work", {"undo": "b"}))
    flow.add("c", NewJob.of("work"), after="b")
    id = start_workflow(pg, flow).id
    session = WorkerSession(pg, lease=3600.0)
    for report in (complete, complete, bury, complete):
        report(pg, session.claim(10))
        advance(pg)
    late = "select round(extract(epoch from run_at - postmill.now())) from postmill.scheduled"
    assert session.claim(10) == []
    assert 20 <= one(pg, late) <= 60
    with shifted(pg, "61 s"):
        promote(pg)
        complete(pg, session.claim(10))
        advance(pg)
        assert status_of(pg, id) == "failed"
        assert 20 <= one(pg, late) <= 60
