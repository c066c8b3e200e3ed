"""`scheduled_for`: explicit, for maintenance and delayed notifications alone, with 60 seconds of drift; and the nights."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from examples.planner import maintain
from examples.planner.caller import Caller
from examples.planner.jobs.conflict_scan import conflict_scan
from examples.planner.jobs.maintenance import BATCH, GENTLE, MOST_BATCHES
from examples.planner.scheduling import ScheduleRefused
from examples.planner.submit import submit
from examples.planner.tests.office import ORG, Office


async def now(office: Office) -> datetime:
    found: datetime = (await office.row("select postmill.now() as now"))["now"]
    return found


async def maintenance(office: Office, at: datetime, status: int = 202) -> Any:
    body = {"what": "expired-keys", "scheduled_for": at.isoformat()}
    return await office.ask("POST", "/maintenance", status, json=body)


async def test_sixty_seconds_are_drift(office: Office) -> None:
    moment = await now(office)
    late = await maintenance(office, moment - timedelta(seconds=45))
    assert (await office.ask("GET", f"/jobs/{late['job_id']}"))["contract"]["scheduled_for"] is None, "now"
    answer = await maintenance(office, moment - timedelta(seconds=90), 422)
    assert "more than 60 s in the past" in answer["detail"]
    later = await maintenance(office, moment + timedelta(days=1))
    assert later == await maintenance(office, moment + timedelta(days=1)), (
        "a scheduled job is idempotent, too"
    )
    contract = (await office.ask("GET", f"/jobs/{later['job_id']}"))["contract"]
    assert datetime.fromisoformat(contract["scheduled_for"]) == moment + timedelta(days=1)
    naive = {"what": "expired-keys", "scheduled_for": "2031-05-05T08:00:00"}
    await office.ask("POST", "/maintenance", 422, json=naive)


async def test_nothing_else_is_scheduled(office: Office) -> None:
    """Not by the door that all requests go through, and not by plain SQL past it."""
    caller = Caller(ORG, "user", "olga", "r", "c")
    at = datetime(2031, 5, 5, tzinfo=UTC)
    with pytest.raises(ScheduleRefused, match=r"planning\.conflict-scan cannot be scheduled"):
        await submit(office.conn, caller, conflict_scan.new(revision=1), scheduled_for=at)
    later = await now(office) + timedelta(hours=1)
    await office.past_the_api({"revision": 1}, scheduled_for=later)
    await office.run("2 hours")
    [letter] = await office.ask("GET", "/dead-letters")
    assert letter["error_class"].endswith("ScheduleRefused")
    assert letter["attempts"] == 1


async def test_a_reminder_comes_when_it_was_asked_for(office: Office) -> None:
    project = await office.project()
    mission = await office.mission(project)
    await office.assign(project, mission, "Ben")
    await office.run()
    at = (await now(office)) + timedelta(hours=20)
    body = {"mission_id": mission, "scheduled_for": at.isoformat()}
    made = await office.ask("POST", f"{project}/reminders", 202, json=body)
    assert made == await office.ask("POST", f"{project}/reminders", 202, json=body)
    await office.run("19 hours")
    assert len(office.mailbox.messages) == 1
    await office.run("21 hours")
    assert [mail["Subject"] for mail in office.mailbox.messages] == [
        "You are on Load-in",
        "Reminder: Load-in",
    ]


async def test_the_nights(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    """Two jobs for each organization and night; keys whose time is over go, others stay."""
    project = await office.project()
    await office.mission(project, "Load-in of the organ")
    await office.ask("POST", f"{project}/conflict-scans", 202, headers={"Idempotency-Key": "k"})
    await office.conn.execute(
        "insert into planner.delivery (org_id, recipient, template, payload_hash, schedule_bucket, job_id, expires_at)"
        " select %s, 'email:' || n, 't', 'h', now(), gen_random_uuid(), "
        " postmill.now() + (case when n <= 700 then -1 else 1000 end) * interval '1 hour' from generate_series(1, 703) n",
        [ORG],
    )
    at = (await now(office)) + timedelta(hours=30)
    for expected in (2, 0):
        assert await asyncio.to_thread(maintain.main, ["--at", at.isoformat()]) == 0
        assert capsys.readouterr().out.startswith(f"{expected} jobs")
    await office.run("31 hours")
    left = await office.row(
        "select (select count(*) from planner.delivery) as d, (select count(*) from planner.request_key) as k"
    )
    assert left == {"d": 3, "k": 0}
    found = await office.ask("GET", f"{project}/search", params={"q": "organ"})
    assert [one["title"] for one in found] == ["Load-in of the organ"]
    assert BATCH * MOST_BATCHES == 10_000, "bounded"
    [limit] = GENTLE
    assert limit.rate is not None, "rate-limited over the whole fleet, two at once"
    assert (limit.max_running, limit.rate.count, limit.rate.burst) == (2, 30, 2)
