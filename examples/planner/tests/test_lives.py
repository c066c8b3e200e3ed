"""Ownership, dead letters, audit events, metrics and traces of jobs."""

from __future__ import annotations

import json
from uuid import UUID

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from examples.planner.statements import FOLDER
from examples.planner.tests.office import ORG, OTHER, Office
from postmill.bind import adrive
from postmill.domain.letter_care import LetterCare
from postmill.domain.settings_load import load
from postmill.operate import insight
from postmill.telemetry.bus import Bus
from postmill.telemetry.metrics import render
from postmill.telemetry.tracing import trace_jobs


async def test_whoever_has_lost_access_gets_nothing_done(office: Office) -> None:
    """The API's own policy, asked again when the job runs: it ends for good, after one attempt."""
    project = await office.project()
    made = await office.ask("POST", f"{project}/conflict-scans", 202, who="pete")
    await office.conn.execute("delete from planner.access where actor_id = 'pete'")
    await office.run()
    job = await office.job(made["job_id"])
    assert (job["state"], job["attempt"]) == ("dead_letter", 1)
    [letter] = await office.ask("GET", "/dead-letters")
    assert (letter["reason"], letter["error_class"]) == (
        "permanent_error",
        "examples.planner.policy.Forbidden",
    )
    assert "may not plan in project" in letter["error_message"]
    assert await office.rows("select name from postmill.artifacts where job_id = %s", made["job_id"]) == []


async def test_the_boundary_is_checked_before_execution(office: Office) -> None:
    """A payload that names another organization, and a project that is another organization's."""
    project = UUID((await office.project()).rpartition("/")[2])
    await office.past_the_api({"revision": 1, "org_id": str(OTHER)}, "inside", project=project)
    await office.past_the_api({"revision": 1}, "outside", project=project, tenant=str(OTHER))
    await office.run()
    letters = await office.rows("select attempts, error_class from planner.deadletter order by job_id")
    assert letters == [{"attempts": 1, "error_class": "postmill.domain.errors.ScopeViolation"}] * 2


async def test_dead_letters_and_what_can_be_done(office: Office) -> None:
    """`q:deadletter`: replay, discard, fix-forward; an incident; and Postmill's metric and list under that name."""
    project = await office.project()
    for key in ("one", "two", "three"):
        await office.past_the_api({"revision": "no number"}, key, project=project.rpartition("/")[2])
    async with office.work() as worker:
        await office.idle()
    letters = await office.ask("GET", "/dead-letters")
    assert {(one["queue"], one["from_queue"], one["reason"], one["attempts"]) for one in letters} == {
        ("q:deadletter", "q:default", "undecodable", 1)
    }
    assert letters[0]["plan"] == ["replay", "discard", "fix-forward"]
    page = render(worker.counters).decode()
    assert 'deadletter_total{job_type="staffing.refresh",queue="q:deadletter"} 3' in page
    listed = await adrive(office.conn, insight.dead_letters(queue="q:deadletter"))
    assert [(one.queue, one.shown_as) for one in listed] == [("q:default", "q:deadletter")] * 3
    care = LetterCare.of(load(FOLDER / "postmill.toml", env={}))
    raised = await office.rows(
        "select verb, open from postmill.watch_dead_letters(%s, %s, %s)",
        care.above, json.dumps(dict(care.queues)), json.dumps(dict(care.job_types)),
    )  # fmt: skip
    assert raised == [{"verb": "raised", "open": 3}], "the alert event: an incident"

    replayed, discarded, fixed = (f"/dead-letters/{one['job_id']}" for one in letters)
    await office.ask("POST", f"{replayed}/replay", 403, json={}, who="pete")
    await office.ask("POST", f"{replayed}/replay", 202, json={})
    await office.ask("POST", f"{discarded}/discard", 204)
    new = await office.ask("POST", f"{fixed}/replay", 202, json={"payload": {"revision": 2}})
    await office.run()
    assert (await office.job(new["job_id"]))["state"] == "succeeded"
    left = await office.ask("GET", "/dead-letters")
    assert len(left) == 1, "the same again is a dead letter again"
    actions = [one["action"] for one in await office.ask("GET", "/audit")][:3]
    assert actions == ["job.replayed", "job.discarded", "job.replayed"]
    claimed = await office.row("select count(*) as n from postmill.job where queue = 'q:deadletter'")
    assert claimed == {"n": 0}


LIFE = """
    select e.event, e.attempt, e.started_at is not null as started, b.tenant_id as org_id, b.project_id, b.actor_type, b.actor_id,
           b.request_id, b.correlation_id, b.job_type
      from postmill.job_events(now() - interval '1 hour', now() + interval '1 hour', null) e
      join postmill.any_job b on b.id = e.job_id
     where e.job_id = %s order by e.recorded_at, e.key
"""


async def test_audit_events_of_a_life(office: Office) -> None:
    """To the letter, each with whose it is and what asked for it, also after retries and for dead letters."""
    project = await office.project()
    ids = {"X-Request-Id": "req-1", "X-Correlation-Id": "corr-1"}
    office.mailbox.replies += ["451 later", "550 never"]
    made = await office.assign(project, await office.mission(project), "Ben", headers=ids)
    await office.run(hurry=True)
    told = await office.rows(LIFE, made["jobs"][1])
    assert [one["event"] for one in told] == [
        "job.enqueued", "job.started", "job.failed", "job.retried", "job.started", "job.failed", "job.deadlettered"
    ]  # fmt: skip
    for one in told:
        assert (one["org_id"], str(one["project_id"])) == (ORG, project.rpartition("/")[2])
        assert (one["actor_type"], one["actor_id"]) == ("user", "olga")
        assert (one["request_id"], one["correlation_id"]) == ("req-1", "corr-1")
        assert one["job_type"] == "notification.deliver"
    assert [one["attempt"] for one in told][1:] == [1, 1, 1, 2, 2, 2]
    done = [one["event"] for one in await office.rows(LIFE, made["jobs"][0])]
    assert done == ["job.enqueued", "job.started", "job.succeeded"]


async def test_keys_are_stored_with_their_state(office: Office) -> None:
    project = await office.project()
    made = await office.ask("POST", f"{project}/conflict-scans", 202)
    query = """select k.*, k.expires_at - k.first_seen_at as kept
                 from postmill.read_idempotency_keys(p_job_type => 'planning.conflict-scan') k"""
    waiting = await office.row(query)
    assert (waiting["status"], waiting["kept"].days, str(waiting["tenant_id"])) == ("pending", 30, str(ORG))
    assert waiting["key"].startswith(f"planning.conflict-scan:{ORG}:{project.rpartition('/')[2]}:")
    await office.ask("POST", f"{project}/conflict-scans", 202)
    await office.run()
    done = await office.row(query)
    assert (done["status"], done["result_ref"], done["error_ref"]) == (
        "succeeded",
        f"jobs/{made['job_id']}",
        None,
    )
    assert done["last_seen_at"] > done["first_seen_at"]


async def test_one_trace_from_the_request_to_the_job(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter, provider, bus = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False), Bus()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    stop = trace_jobs(bus, provider)
    assert stop is not None
    came = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
    await office.ask("POST", "/projects", 201, json={"name": "Fair"}, headers=came)
    await office.run(bus=bus)
    stop()
    request, job = exporter.get_finished_spans()
    assert request.name == f"POST /api/orgs/{ORG}/projects"
    assert request.parent is not None
    assert request.context is not None
    assert job.parent is not None
    assert f"{request.parent.span_id:016x}" == "b" * 16
    assert f"{job.parent.trace_id:032x}" == "a" * 32
    assert job.parent.span_id == request.context.span_id, "the job is the request's child"
    assert [link.context.span_id for link in job.links] == [request.context.span_id]


async def test_an_answer_is_what_was_committed(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing runs, and the write is there; it waits for provisioning alone; a derived view says of which revision it is."""
    waiting = await office.project(ready=False)
    body = {"title": "x", "skill": "y", "starts_at": "2031-05-05T08:00Z", "ends_at": "2031-05-05T09:00Z"}
    await office.ask("POST", f"{waiting}/missions", 409, json=body)
    await office.run()
    await office.ask("POST", f"{waiting}/missions", 201, json=body)
    before = await office.ask("GET", waiting)
    assert (before["revision"], before["open"], before["summed_revision"]) == (2, None, None)
    await office.run()
    after = await office.ask("GET", waiting)
    assert (after["open"], after["staffed"], after["summed_revision"]) == (1, 0, 2)
    again = {"Idempotency-Key": "once"}
    first = await office.ask("POST", f"{waiting}/proposals", 202, headers=again)
    await office.ask("POST", f"{waiting}/missions", 201, json=body)
    assert await office.ask("POST", f"{waiting}/proposals", 202, headers=again) == first
