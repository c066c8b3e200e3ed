"""`postmill incidents` and `postmill channels`."""

from __future__ import annotations

import json

import pytest

from examples.upstreams.alerts import judges
from examples.upstreams.alerts.mailbox import Mailbox
from examples.upstreams.alerts.service import AlertService
from tests.alerts.world import pagerduty, serving, slack
from tests.cli.support import cli


def raised(pg, key, severity="warning"):
    row = pg.execute(
        "select postmill.raise_incident('budget', %s, %s, 'spent ' || %s, '{}', null, 'bulk')",
        [key, severity, key],
    ).fetchone()
    return str(row[0])


def test_incidents(dsn, pg):
    assert cli("incidents", "list", dsn=dsn).out == "nothing is wrong\n"
    pg.execute("insert into postmill.queue (name) values ('bulk')")
    first, second = raised(pg, "a"), raised(pg, "b", "critical")
    listed = cli("incidents", "list", "--queue", "BULK", dsn=dsn)
    assert listed.out.index("spent b") < listed.out.index("spent a")
    assert [one["id"] for one in cli("incidents", "list", "--json", dsn=dsn).json] == [second, first]
    shown = cli("incidents", "show", first, dsn=dsn).out
    assert "spent a" in shown
    assert "1 times, 0 jobs, 0 tenants" in shown
    whole = cli("incidents", "show", first, "--json", dsn=dsn).json
    assert (whole["status"], whole["notifications"], whole["job_ids"]) == ("open", [], [])
    taken = cli("incidents", "ack", first, "--reason", "on it", dsn=dsn)
    assert (taken.code, taken.out.startswith("acknowledged by ")) == (0, True)
    done = cli("incidents", "resolve", second, "--json", dsn=dsn)
    assert done.json["status"] == "resolved"
    assert cli("incidents", "ack", second, dsn=dsn).code == 1
    assert [
        one["id"] for one in cli("incidents", "list", "--status", "acknowledged", "--json", dsn=dsn).json
    ] == [first]
    audited = pg.execute(
        "select action, via from postmill.audit_log where action like 'incidents.%' order by at"
    ).fetchall()
    assert audited == [("incidents.acknowledge", "cli"), ("incidents.resolve", "cli")]
    assert cli("incidents", "show", "0198f3a2-7c11-7abc-8def-0123456789ab", dsn=dsn).code == 5
    assert cli("incidents", "list", "--queue", "bilk", dsn=dsn).code == 5
    for words in (("--status", "gone"), ("--kind", "fire")):
        refused = cli("incidents", "list", *words, dsn=dsn)
        assert (refused.code, "one of:" in refused.err) == (2, True)


def test_channels(dsn, pg, here):
    none = cli("channels", "list", dsn=dsn)
    assert (none.code, "nobody is told" in none.out) == (0, True)
    ops, paged, mailbox = AlertService(judges.slack), AlertService(judges.pagerduty), Mailbox()
    settings = {
        "smtp_url": mailbox.start(),
        "channels": {
            "#ops": slack(ops),
            "pager": pagerduty(paged, fallback="#ops"),
            "daily": {"kind": "email", "to": ["a@example.org", "b@example.org"], "digest": "08:00"},
            "wrong": slack(ops, url=f"{ops.url}/gone"),
            "other": {"kind": "apprise", "url": f"json://127.0.0.1:{paged.server_address[1]}/services/x"},
        },
    }
    (here / "postmill.yaml").write_text(json.dumps({"escalation": settings}))
    try:
        with serving(ops, paged):
            for name in ("#ops", "pager", "daily"):
                sent = cli("channels", "test", name, dsn=dsn)
                assert (sent.code, sent.out) == (0, f"{name} took it\n"), sent.err
            refused = cli("channels", "test", "wrong", dsn=dsn)
            assert (refused.code, "wrong: answered 404" in refused.err) == (1, True)
            assert ops.url not in refused.err
            assert cli("channels", "test", "other", dsn=dsn).code == 1, "this one takes no such messages"
            unknown = cli("channels", "test", "pagr", dsn=dsn)
            assert (unknown.code, "did you mean 'pager'" in unknown.err) == (5, True)
    finally:
        mailbox.stop()
    assert "nothing is wrong" in ops.delivered[0].body["text"]
    assert [call.body["event_action"] for call in paged.delivered] == ["trigger", "resolve"]
    assert mailbox.recipients == [["a@example.org", "b@example.org"]]
    pg.execute(
        "insert into postmill.channel_state (channel, failing_since, last_error) values ('pager', now(), 'no answer')"
    )
    listed = cli("channels", "list", "--json", dsn=dsn)
    facts = {one["channel"]: one for one in listed.json}
    assert (facts["pager"]["fallback"], facts["pager"]["last_error"], facts["daily"]["digest"]) == (
        "#ops",
        "no answer",
        "08:00",
    )
    assert "integration-key" not in listed.out
    assert "fails since" in cli("channels", "list", dsn=dsn).out


@pytest.mark.parametrize(
    "settings",
    [
        {"channels": {"x": {"kind": "webhook", "url": "http://x", "key": "no base64!"}}},
        {"smtp_url": "mail:x", "ops_email": "a@b"},
    ],
)
def test_channels_that_cannot_be_opened(dsn, here, settings):
    """A worker says so when it starts, not when something is wrong."""
    (here / "postmill.yaml").write_text(json.dumps({"escalation": settings}))
    (here / "few.py").write_text("from postmill import job\n@job\ndef few() -> None: ...\n")
    refused = cli("worker", "few.py", dsn=dsn)
    assert (refused.code, "escalation." in refused.err) == (2, True), refused.err


def test_queues_say_who_answers_for_them(dsn, pg, here):
    """Code declares it, settings win where they say something; `queues list` and SQL show it."""
    (here / "few.py").write_text(
        "from postmill import Queue, job\n\n"
        "HIGH = Queue('HIGH', owner='Ada', sla=60, escalation='ops')\n\n@job(queue=HIGH)\ndef few() -> None: ...\n"
    )
    (here / "postmill.toml").write_text("[queues.high]\nowner = 'Ops On-Call'\nsla = '30s'\n")
    assert cli("jobs", "register", "few.py", dsn=dsn).code == 0
    (queue,) = cli("queues", "list", "--json", dsn=dsn).json
    assert (queue["name"], queue["owner"], queue["sla_seconds"], queue["escalation"]) == (
        "HIGH",
        "Ops On-Call",
        30,
        "ops",
    )
    pg.execute(
        "insert into postmill.attainment (queue, measured_at, n, attained, burn) values ('HIGH', now(), 9, 0.9, 2)"
    )
    listed = cli("queues", "list", dsn=dsn).out
    assert "30 s: 90.0%" in listed
    assert "Ops On-Call" in listed
