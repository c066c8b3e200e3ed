"""Notifications: who is told by which channel, once; what providers say; and that no write ever fails for them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
import structlog.testing

from examples.planner.jobs.notify import deliver
from examples.planner.tests.office import ORG, Office
from examples.upstreams.messages.server import Sent
from examples.upstreams.script import Answer, Rule, Script
from postmill import aenqueue

HOUR = datetime.fromisoformat("2031-05-05T08:00:00+00:00")


async def test_an_assignment_is_told_by_every_channel_once(office: Office) -> None:
    project = await office.project()
    mission = await office.mission(project)
    made = await office.assign(project, mission)
    async with office.at("61 minutes") as later:
        again = await later.assign(project, mission)
    assert len(made["jobs"]) == 5, "four channels, and what follows the write"
    assert made["jobs"][1:] == again["jobs"][1:], "a request that comes again tells nobody, in whatever hour"
    await office.run()
    text = "You are assigned to Load-in, 2031-05-05 08:00 UTC."
    assert sorted(office.service.sent, key=str) == [
        Sent("in-app", "account:ann", text),
        Sent("push", "ExponentPushToken[ann]", text),
        Sent("sms", "+31600000001", text),
    ]
    [mail] = office.mailbox.messages
    assert (mail["To"], mail["Subject"], mail.get_content().strip()) == (
        "ann@example.org",
        "You are on Load-in",
        text,
    )
    assert str(mail["Message-ID"]).endswith("@planner>")
    stored = await office.rows("select payload::text as text from postmill.jobs")
    assert not any("@example" in one["text"] or "+316" in one["text"] for one in stored), (
        "addresses are in no payload"
    )


async def test_a_run_sheet_is_told_to_the_crew(office: Office) -> None:
    project = await office.project()
    await office.assign(project, await office.mission(project), "Ben")
    await office.ask("PUT", f"{project}/run-sheet", json={"title": "Friday", "items": []})
    await office.run()
    assert sorted(mail["Subject"] for mail in office.mailbox.messages) == [
        "New run sheet: Friday",
        "You are on Load-in",
    ]


async def test_one_key_for_org_recipient_template_hash_and_bucket(office: Office) -> None:
    """Any of the five makes another message; and a second job under the same five, as a replay is one, sends nothing."""
    ann, ben = await office.person("Ann"), await office.person("Ben")
    first: dict[str, Any] = {
        "recipient": f"email:{ann}", "template": "reminder", "variables": {"mission": "Load-in", "when": "at 8"},
        "payload_hash": "a", "schedule_bucket": HOUR,
    }  # fmt: skip
    others: list[dict[str, Any]] = [
        {}, {"recipient": f"email:{ben}"}, {"payload_hash": "b"}, {"schedule_bucket": HOUR.replace(hour=9)},
        {"template": "run-sheet-updated", "variables": {"title": "x", "version": "2"}},
    ]  # fmt: skip
    who: dict[str, Any] = {
        "tenant": ORG,
        "actor_id": "olga",
        "actor_type": "user",
        "request_id": "r",
        "correlation_id": "c",
    }
    rounds: list[list[dict[str, Any]]] = [others, [{}]]
    for number, changes in enumerate(rounds):
        for change in changes:
            job = deliver.using(**who, key=f"{number} {change}").new(**first | change)
            last = await aenqueue(office.conn, job)
        await office.run()
    assert len(office.mailbox.messages) == len(others)
    assert (await office.job(last.id))["result"] == {"skipped": "it was sent before"}


@pytest.mark.parametrize(
    ("answers", "attempts", "end"),
    [
        ([Answer(status=429, retry_after="1"), Answer(status=503)], 3, "succeeded"),
        ([Answer(body="none"), Answer(body="garbage")], 3, "succeeded"),
        ([Answer(status=400)], 1, "dead_letter"),
        ([Answer(status=500)] * 10, 10, "dead_letter"),
    ],
)
async def test_what_a_provider_says(office: Office, answers: list[Answer], attempts: int, end: str) -> None:
    """Rate limits, outages and garbage: again, ten times at most; what will never be: at once. No error names an address."""
    office.service.script = Script(latency=(0, 0), rules=(Rule(every=1, answers=tuple(answers)),))
    project = await office.project()
    made = await office.assign(project, await office.mission(project), "Cem")
    await office.run(hurry=True)
    job = await office.job(made["jobs"][1])
    assert (job["state"], job["attempt"]) == (end, attempts)
    assert len(office.service.sent) == (end == "succeeded")
    assert "cem" not in str(job["error_message"])


async def test_what_a_mail_server_says(office: Office) -> None:
    """SMTP's classes are the other way round: 4yz is tried again, 5yz is not."""
    project = await office.project()
    mission = await office.mission(project)
    office.mailbox.replies += ["451 try later", "421 closing"]
    late = await office.assign(project, mission, "Ben")
    await office.run(hurry=True)
    assert (await office.job(late["jobs"][1]))["attempt"] == 3
    office.mailbox.replies += ["550 no such mailbox ben@example.org"]
    await office.ask("PUT", f"{project}/run-sheet", json={"title": "Friday", "items": []})
    await office.run()
    [letter] = await office.ask("GET", "/dead-letters")
    assert (letter["error_class"], letter["error_message"]) == (
        "examples.planner.messages.message.Undeliverable", "email: refused with 550"
    )  # fmt: skip


@pytest.mark.parametrize("broken", ["the type is switched off", "its statement fails"])
async def test_a_write_never_fails_for_them(office: Office, broken: str) -> None:
    project = await office.project()
    mission = await office.mission(project)
    breaks, mends = {
        "the type is switched off": (
            "update postmill.job_definition set is_active = false where key = 'notification.deliver'",
            "update postmill.job_definition set is_active = true where key = 'notification.deliver'",
        ),
        "its statement fails": (
            "alter table planner.collaborator rename column device to devices",
            "alter table planner.collaborator rename column devices to device",
        ),
    }[broken]
    await office.conn.execute(breaks.encode())
    try:
        with structlog.testing.capture_logs() as logs:
            made = await office.assign(project, mission)
    finally:
        await office.conn.execute(mends.encode())
    assert [line["event"] for line in logs if line["log_level"] == "warning"] == ["notification_not_enqueued"]
    assert len(made["jobs"]) == 1, "the follow-up is there"
    assert await office.row("select assigned_by from planner.assignment") == {"assigned_by": "olga"}
