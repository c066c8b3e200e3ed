"""Policies: who is told, when, and who is told instead."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from postmill.domain.business_hours import Hours
from postmill.domain.errors import DefinitionError, SettingsError
from postmill.domain.escalation import Escalation, Outlet, Policy, Step, parse_step
from postmill.domain.job_type import job
from postmill.domain.queue import Queue
from postmill.domain.registry import Registry
from postmill.domain.settings_load import load

SINCE = datetime(2026, 5, 4, 16, 0, tzinfo=UTC)  # a Monday
HIGH = Policy("high", (Step("pager"), Step("ops"), Step("lead", 900.0)), repeat=3600.0)


def take(policy: Policy, step: int, minutes: float, **more: Any) -> tuple[list[str], int, float | None]:
    taken = policy.take(step, SINCE, SINCE + timedelta(minutes=minutes), **more)
    due = taken.next_at
    return (
        [name for name, _ in taken.told],
        taken.next_step,
        None if due is None else (due - SINCE).total_seconds() / 60,
    )


def test_steps_are_taken_when_they_are_due() -> None:
    assert take(HIGH, 0, 0) == (["pager", "ops"], 2, 15.0)
    assert take(HIGH, 2, 14) == ([], 2, 15.0)
    assert take(HIGH, 2, 15) == (["lead"], 3, 75.0)
    assert take(HIGH, 0, 500)[0] == ["pager", "ops"] + ["lead"] * 9, "after an outage, all that was due"
    assert take(HIGH, 0, 10_000)[2] is None, "not for ever"


def test_what_is_over_before_anybody_was_told_is_told_to_the_first() -> None:
    assert take(HIGH, 0, 60, over=True) == (["pager", "ops"], 2, None)
    late = Policy("late", (Step("lead", 60.0),))
    assert take(late, 0, 60, over=True) == ([], 1, None)


def test_response_times_count_in_business_hours() -> None:
    policy = Policy("slack", (Step("ops"), Step("lead", 4 * 3600.0)), Hours("UTC"))
    due = policy.take(0, SINCE, SINCE).next_at
    assert due == datetime(2026, 5, 5, 12, 0, tzinfo=UTC), "an hour of Monday, three of Tuesday"


def test_when_a_channel_may_be_told() -> None:
    night = SINCE.replace(hour=22)
    office = Outlet("ops", hours=Hours("UTC"))
    assert office.due("critical", night) == night
    assert office.due("warning", night) == datetime(2026, 5, 5, 9, 0, tzinfo=UTC)
    digest = Outlet("email", digest=time(8), zone="Europe/Berlin")
    assert digest.due("critical", night) == datetime(2026, 5, 5, 6, 0, tzinfo=UTC)


def test_which_policy_is_for_what() -> None:
    outlets = {name: Outlet(name) for name in ("pager", "ops", "#feeds", "email")}
    plan = Escalation(outlets, {"high": HIGH}, {"budget": "email"}, default="ops")

    def chosen(kind: str, **more: Any) -> str | None:
        policy = plan.policy(kind, "k", **more)
        return None if policy is None else policy.name

    assert chosen("job_exhausted", contact="#feeds", escalation="high") == "high"
    assert chosen("sla_breach", contact="#feeds", escalation="high") == "#feeds"
    assert chosen("sla_breach", contact="Anna", escalation="high") == "high", "a contact that is no channel"
    assert chosen("budget", escalation="high") == "email"
    assert chosen("stale_workers") == "ops"
    assert Escalation(outlets).policy("stale_workers", "fleet") == Policy("pager", (Step("pager"),))
    assert Escalation().policy("stale_workers", "fleet") is None


def test_who_is_told_instead_is_never_the_same_and_never_one_that_fails() -> None:
    outlets = {
        "a": Outlet("a", fallback="b"),
        "b": Outlet("b", fallback="a"),
        "daily": Outlet("daily", digest=time(8)),
        "c": Outlet("c"),
    }
    plan = Escalation(outlets, {"p": Policy("p", (Step("c"), Step("a", 1.0)))})
    assert plan.fallback("a") == "b"
    assert plan.fallback("a", ["b"]) == "c", "rather one that tells at once than a digest"
    assert plan.fallback("a", ["b", "c"]) == "daily"
    assert plan.fallback("a", ["b", "c", "daily"]) is None
    assert plan.fallback("c") == "a", "the next step of its policy"
    assert plan.fallback("gone") == "a"
    notification = plan.policy("notification", "a", failing=["a"])
    assert notification == Policy("b", (Step("b"),))
    assert plan.policy("notification", "a", failing=["a", "b", "c", "daily"]) is None


def test_a_step_as_people_write_it() -> None:
    assert parse_step(" #ops alerts after 15m ") == Step("#ops alerts", 900.0)
    assert parse_step("pager") == Step("pager")
    with pytest.raises(ValueError, match="is not a duration"):
        parse_step("pager after lunch")


FAULTS = [
    ({"policies": {"p": {"steps": "ops"}}}, "there is no 'ops'"),
    ({"channels": {"ops": {"kind": "slack"}}}, "needs 'url'"),
    ({"channels": {"ops": {"kind": "fax", "url": "x"}}}, "channels.ops.kind"),
    ({"channels": {"ops": {"kind": "slack", "url": "secret", "rate": "often"}}}, "is no rate"),
    ({"channels": {"ops": {"kind": "slack", "url": "secret", "hours": "office"}}}, "there is no 'office'"),
    ({"channels": {"ops": {"kind": "slack", "url": "secret", "fallback": "opps"}}}, "did you mean 'ops'"),
    ({"calendars": {"office": {"zone": "Europe/Amsterdm"}}}, "did you mean 'Europe/Amsterdam'"),
    ({"slack_webhook": "secret", "default": "slak"}, "did you mean 'slack'"),
    ({"kinds": {"sla_beach": "x"}}, "did you mean 'sla_breach'"),
]


@pytest.mark.parametrize(("section", "said"), FAULTS)
def test_settings_that_cannot_be(section: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as fault:
        load(env={}, folder=tmp_path, overrides={"escalation": section})
    assert said in str(fault.value)
    assert "secret" not in str(fault.value)


def test_the_settings_of_seed_1(tmp_path: Path) -> None:
    """Section 8, with secrets from the environment; and channels of one's own beside the three short keys."""
    (tmp_path / "postmill.yaml").write_text("""
villagecompute:
  jobs:
    escalation:
      pagerduty-key: ${PAGERDUTY_INTEGRATION_KEY}
      slack-webhook: ${SLACK_OPS_WEBHOOK}
      ops-email: ops@villagecompute.com
queues:
  HIGH: {owner: Ops On-Call, contact: pagerduty, color: salmon, sla: 30s, escalation: high}
  DEFAULT: {owner: Platform Services Guild, contact: "#platform-feeds", sla: 5m, wait_target: 1m, escalation: slack}
  BULK: {owner: Content Intelligence Squad, escalation: email}
escalation:
  channels:
    "#platform-feeds": {kind: slack, url: "${SLACK_FEEDS}", hours: office}
  policies:
    high: {steps: "pagerduty, slack after 15m"}
  calendars:
    office: {zone: Europe/Amsterdam, days: mon-fri, holidays: "2026-12-25, 2026-12-26"}
""")
    env = {
        "PAGERDUTY_INTEGRATION_KEY": "k-1",
        "SLACK_OPS_WEBHOOK": "https://s/1",
        "SLACK_FEEDS": "https://s/2",
    }
    settings = load(env=env, folder=tmp_path)
    plan = settings.escalation.plan
    assert list(plan.outlets) == ["pagerduty", "slack", "email", "#platform-feeds"]
    assert plan.outlets["email"].digest == time(8)
    assert plan.policies["high"].steps == (Step("pagerduty"), Step("slack", 900.0))
    assert not any(secret in repr(settings) for secret in env.values())
    rows = {queue.name: queue.row() for queue in settings.declared_queues}
    assert rows["DEFAULT"]["wait_target_seconds"] == 60.0
    assert rows["BULK"]["sla_seconds"] is None
    with pytest.raises(SettingsError, match="there is no 'hihg'; did you mean 'high'"):
        load(env=env, folder=tmp_path, overrides={"queues": {"HIGH": {"escalation": "hihg"}}})


def test_queues_in_code() -> None:
    high = Queue("HIGH", owner="Ops On-Call", sla=timedelta(seconds=30), escalation="high")

    @job(queue=high, action="look", escalation_fields=["url"])
    def capture(url: str) -> None: ...

    registry = Registry.collect(capture, high).with_queues([Queue("high", owner="Ada", sla=60)])
    assert capture.queue == "HIGH"
    assert registry.declared == {"HIGH": Queue("HIGH", owner="Ada", sla=60, escalation="high")}, (
        "the settings win where they say something, and need not know the case"
    )
    with pytest.raises(DefinitionError, match="is declared twice"):
        Registry.collect(high, Queue("HIGH"))
    with pytest.raises(DefinitionError, match="sla must be more than 0"):
        Queue("HIGH", sla=0)
    with pytest.raises(DefinitionError, match="escalation_fields: 'link' is no argument"):

        @job(escalation_fields=["link"])
        def other(url: str) -> None: ...
