"""What becomes of notifications where services do not take them: retry, another channel, nothing lost, nothing endless."""

from __future__ import annotations

import base64
import hashlib
import hmac
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from examples.upstreams.alerts import judges
from examples.upstreams.alerts.mailbox import Mailbox
from examples.upstreams.alerts.service import AlertService, Mood, Taken, texts
from examples.upstreams.script import Answer
from postmill.domain.job_type import job
from tests.alerts.world import escalating, pagerduty, raised, serving, settings_of, slack, value
from tests.support.eventually import aeventually
from tests.support.workers import enqueue

SECRET = b"0123456789abcdef0123456789abcdef"
BROKEN = Answer(status=500)


@job(
    "capture",
    queue="SCREENSHOT",
    max_attempts=1,
    action="look at the page by hand",
    escalation_fields=["url", "password"],
)
def capture(url: str, password: str = "") -> None:
    raise TimeoutError("the page did not load")


async def test_a_failing_channel_is_told_elsewhere_once(
    apg: AsyncConnection[Any], dsn: str, tmp_path: Path
) -> None:
    """Case 121: any job that is given up escalates, and Slack always fails."""
    ops, paged = AlertService(judges.slack, Mood(each=BROKEN)), AlertService(judges.pagerduty)
    settings = settings_of(
        tmp_path,
        link="https://jobs.example.org/jobs/{id}",
        channels={"ops": slack(ops, tries=1, rate="50/1s"), "pager": pagerduty(paged)},
        queues={"SCREENSHOT": {"escalation": "ops"}},
    )
    state = "select failing_since is not null from postmill.channel_state where channel = 'ops'"
    with serving(ops, paged):
        async with escalating(dsn, settings, capture, queues={"SCREENSHOT": 2}):
            ids = [
                await enqueue(apg, "capture", f'{{"url": "https://example.org/{n}", "password": "hunter2"}}')
                for n in range(3)
            ]
            await aeventually(lambda: len(paged.delivered) == 2, what="the job and the channel itself")
            # While it fails, more go to the other one at once.
            more = [await raised(apg, f"b{n}", queue="SCREENSHOT") for n in range(5)]
            await aeventually(lambda: len(paged.delivered) == 7)
            jobs = await value(apg, "select count(*) from postmill.job where job_type = 'postmill.notify'")
            assert len(ops.calls) == 1
            assert not ops.delivered
            # It works again: what is next is tried there, and the channel's incident is over.
            ops.mood.each = Answer()
            await apg.execute("update postmill.channel_state set next_at = null where channel = 'ops'")
            await raised(apg, "after", queue="SCREENSHOT")
            await aeventually(lambda: ops.delivered)
            await aeventually(lambda: [_action(call) for call in paged.delivered].count("resolve") == 1)
            assert await value(apg, state) is False
    kinds = await (
        await apg.execute("select kind, key, count from postmill.incident where kind <> 'budget' order by 1")
    ).fetchall()
    assert [(kind, key) for kind, key, _ in kinds] == [
        ("job_exhausted", "capture:" + kinds[0][1].partition(":")[2]),
        ("notification", "ops"),
    ], "one for all three jobs, one for the channel, none for the jobs that notify"
    assert kinds[0][2] == 3
    assert jobs <= 8, "jobs that notify are few, however much is to be told"
    assert await value(apg, "select count(*) from postmill.dead_letter d") == 3
    events = [call.body for call in paged.delivered]
    told = next(event for event in events if event.get("payload", {}).get("class") == "job_exhausted")
    details = told["payload"]["custom_details"]
    assert details["instead of"] == "channel ops, which does not work"
    assert details["do"] == "look at the page by hand"
    assert details["url"].startswith("https://example.org/")
    assert details["password"] == "[redacted]"
    assert "the page did not load" in details["error"]
    assert told["links"][0]["href"] in {f"https://jobs.example.org/jobs/{id}" for id in ids}
    assert "hunter2" not in str(events)
    assert len(more) == len({event["dedup_key"] for event in events}) - 2
    assert "spent after" in texts(ops.delivered)[0]


def _action(call: Taken) -> str:
    return str(call.body["event_action"])


async def test_what_is_taken_and_then_fails_is_repeated_up_to_the_cap(
    apg: AsyncConnection[Any], dsn: str, tmp_path: Path
) -> None:
    """And digests, and a channel that the settings have no more."""
    hook = AlertService(judges.receiver, Mood(each=Answer(status=502), keeps=True))
    ops = AlertService(judges.slack)
    mailbox = Mailbox()
    settings = settings_of(
        tmp_path,
        smtp_url=mailbox.start(),
        channels={
            "hook": {
                "kind": "webhook",
                "url": f"{hook.url}/hook",
                "key": "whsec_" + base64.b64encode(SECRET).decode(),
                "tries": 3,
                "fallback": "ops",
            },
            "ops": slack(ops, rate="50/1s"),
            "daily": {"kind": "email", "to": "ops@example.org", "digest": "08:00", "zone": "Europe/Berlin"},
        },
        queues={"a": {"escalation": "hook"}, "b": {"escalation": "daily"}, "c": {"escalation": "ops"}},
    )
    due = "select count(due_at) from postmill.notification where channel = 'daily'"
    try:
        with serving(hook, ops):
            async with escalating(dsn, settings):
                # As if it had failed twice already: the waits between are not what is looked at.
                await apg.execute("insert into postmill.channel_state (channel, failures) values ('hook', 1)")
                await raised(apg, "twice", queue="a")
                for n in range(4):
                    await raised(apg, f"later {n}", queue="b")
                lost = await raised(apg, "lost", queue="c")
                await aeventually(lambda: len(ops.delivered) == 3, 20, "two elsewhere, and its own")
                assert len(hook.delivered) == 2
                assert len({call.headers["webhook-id"] for call in hook.delivered}) == 1
                for call in hook.delivered:
                    _check_signature(call)
                # The digest waits for its time of the day.
                await aeventually(lambda: value(apg, f"select ({due}) = 4"))
                assert not mailbox.messages
                early = """select count(*) from postmill.notification where channel = 'daily'
                    and to_char(due_at at time zone 'Europe/Berlin', 'HH24:MI') = '08:00' and due_at > postmill.now()"""
                assert await value(apg, early) == 4
                mailbox.replies.append("451 later")
                await apg.execute(
                    "update postmill.notification set due_at = postmill.now() where channel = 'daily'"
                )
                await aeventually(lambda: mailbox.messages)
                # A channel that the settings have no more hands over what it has.
                await apg.execute(
                    "insert into postmill.notification (incident_id, cycle, step, event, channel, due_at)"
                    " values (%s, 1, 5, 'trigger', 'gone', postmill.now())",
                    [lost],
                )
                await raised(apg, "wake", queue="c")
                await aeventually(
                    lambda: value(
                        apg, "select status = 'moved' from postmill.notification where channel = 'gone'"
                    )
                )
    finally:
        mailbox.stop()
    (message,) = mailbox.messages
    assert mailbox.recipients == [["ops@example.org"]]
    assert message["Subject"] == "Postmill: 4 notifications"
    assert all(f"spent later {n}" in message.get_content() for n in range(4))


def _check_signature(call: Taken) -> None:
    id, seconds = call.headers["webhook-id"], call.headers["webhook-timestamp"]
    signed = f"{id}.{seconds}.".encode() + call.raw
    expected = base64.b64encode(hmac.digest(SECRET, signed, hashlib.sha256)).decode()
    assert call.headers["webhook-signature"] == f"v1,{expected}"


async def test_steps_until_somebody_acknowledges_and_each_in_order(
    apg: AsyncConnection[Any], dsn: str, tmp_path: Path
) -> None:
    """The resolve of a trigger that is refused at first comes after it, however quickly it is over."""
    paged, lead = AlertService(judges.pagerduty), AlertService(judges.slack)
    settings = settings_of(
        tmp_path,
        channels={"pager": pagerduty(paged, rate="50/1s"), "lead": slack(lead, rate="50/1s")},
        policies={"high": {"steps": "pager, lead after 1500ms"}},
        queues={"HIGH": {"escalation": "high", "contact": "lead", "sla": "30s"}},
    )
    paged.mood.next.append(Answer(status=429, retry_after="1"))
    with serving(paged, lead):
        async with escalating(dsn, settings):
            short = await raised(apg, "short", queue="HIGH")
            await apg.execute("select postmill.resolve_incident('budget', 'short')")
            await aeventually(lambda: [_action(call) for call in paged.delivered] == ["trigger", "resolve"])
            assert judges.open_alerts([call.body for call in paged.delivered]) == {}
            assert paged.calls[1].at - paged.calls[0].at > 0.9, "it waited as long as it was asked to"

            seen = await raised(apg, "seen", queue="HIGH")
            await raised(apg, "unseen", queue="HIGH")
            await aeventually(lambda: len(paged.delivered) == 4)
            assert (
                await value(apg, "select postmill.door_acknowledge_incident(%s, 'on it')", seen)
                == "acknowledged"
            )
            await aeventually(lambda: lead.delivered, what="the lead hears of the one that nobody took")
            await aeventually(lambda: len(paged.delivered) == 5)
            # A breach of the SLA goes to the queue's contact.
            await apg.execute(
                "select postmill.raise_incident('sla_breach', 'HIGH', 'warning', 'queue HIGH is late', '{}', null, 'HIGH')"
            )
            await aeventually(lambda: len(lead.delivered) == 2)
    assert ["spent unseen" in text for text in texts(lead.delivered)] == [True, False]
    assert "queue HIGH is late" in texts(lead.delivered)[1]
    states = judges.open_alerts([call.body for call in paged.delivered])
    assert sorted(states.values()) == ["acknowledged", "triggered"]
    assert states[f"postmill-{seen}"] == "acknowledged"
    assert len({call.body["dedup_key"] for call in paged.delivered}) == 3
    assert f"postmill-{short}" not in states
