"""Sections 1 to 5 and 8 of the design: the matrix of queues, the settings, retries, concurrency and escalation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from examples.homepage import queues
from examples.homepage.statements import FOLDER
from examples.homepage.tests.labour import ENV
from postmill import Registry, Settings
from postmill.domain.retry import bounds_of
from postmill.domain.settings_load import load

MATRIX: list[tuple[str, int, str, str, str, int, float | None, float]] = [
    # queue, priority, owner, contact, colour, workers a pod, SLA, poll
    ("HIGH", 0, "Ops On-Call", "vc-ops-high", "salmon", 20, 30, 5),
    ("DEFAULT", 5, "Platform Services Guild", "#platform-feeds", "blue", 10, 300, 10),
    ("SCREENSHOT", 6, "Good Sites Platform", "#good-sites", "lavender", 3, 120, 10),
    ("LOW", 7, "Data Insights Pod", "#analytics", "green", 5, 1800, 30),
    ("BULK", 8, "Content Intelligence Squad", "#ai-pipelines", "yellow", 8, None, 60),
]


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load(FOLDER / "homepage.yaml", env=ENV)


def test_the_queue_matrix(settings: Settings) -> None:
    """Every column: priority, owner and contact, colour, concurrency, SLA, poll cadence."""
    found = [
        (
            family.queue.name,
            family.priority,
            family.queue.owner,
            family.queue.contact,
            family.queue.color,
            settings.queue(family.queue.name).slots,
            family.queue.sla,
            settings.queue(family.queue.name).poll_interval,
        )
        for family in queues.FAMILIES
    ]
    assert found == MATRIX
    registry = Registry.collect("examples.homepage.jobs").with_queues(settings.declared_queues)
    assert registry.declared["DEFAULT"] == queues.DEFAULT.queue, "the settings take nothing of it away"
    served = [registry.priority_of(family.queue.name) for family in queues.FAMILIES]
    assert served == [family.priority for family in queues.FAMILIES] == sorted(served)


def test_the_settings_word_for_word(settings: Settings, tmp_path: Path) -> None:
    """All keys of section 8 in their own spelling, and the semaphore of section 4, which wins over the workers."""
    written: dict[str, Any] = yaml.safe_load((FOLDER / "homepage.yaml").read_text())["villagecompute"]["jobs"]
    assert written == {
        "base-delay": 30,
        "max-attempts": 5,
        "workers": {"high": 20, "default": 10, "screenshot": 3, "low": 5, "bulk": 8},
        "screenshot-concurrency": 3,
        "poll-interval": {"high": 5, "default": 10, "screenshot": 10, "low": 30, "bulk": 60},
        "ai-tagging": {"monthly-budget": 500.0},
        "escalation": {
            "pagerduty-key": "${PAGERDUTY_INTEGRATION_KEY}",
            "slack-webhook": "${SLACK_OPS_WEBHOOK}",
            "ops-email": "ops@villagecompute.com",
        },
    }
    assert settings.job_type("SCREENSHOT_CAPTURE").worker_limit == 3
    assert settings.budgets["ai-tagging"].monthly_limit == 500
    more = tmp_path / "more.yaml"
    text = (FOLDER / "homepage.yaml").read_text().replace("concurrency: 3", "concurrency: 2")
    more.write_text(
        text.replace("base-delay: 30 ", "base-delay: 10 ").replace("max-attempts: 5", "max-attempts: 2")
    )
    changed = load(more, env=ENV)
    assert (changed.job_type("SCREENSHOT_CAPTURE").worker_limit, changed.queue("SCREENSHOT").slots) == (2, 3)
    [handler] = Registry.collect("examples.homepage.jobs.rss_feed_refresh").with_retry(
        changed.retry.policy, changed.retry.max_attempts
    )
    assert (bounds_of(handler.retry, 1), handler.max_attempts) == ((7.5, 12.5), 2)


def test_the_worked_table_of_delays(settings: Settings) -> None:
    """Section 3: 5 attempts, 30 s doubling, ± a quarter; the table wins over the formula beside it."""
    assert settings.retry.max_attempts == 5
    table = [bounds_of(settings.retry.policy, attempt) for attempt in range(1, 6)]
    assert table == [(22.5, 37.5), (45, 75), (90, 150), (180, 300), (360, 600)]


def test_who_is_told_how_and_by_when(settings: Settings) -> None:
    """Section 5: action, channel and response time of each queue."""
    channels, policies = settings.escalation.all_channels, settings.escalation.policies
    told = {family.queue.name: policies[str(family.queue.escalation)].steps for family in queues.FAMILIES}
    assert told == {
        "HIGH": ("pagerduty", "slack after 15m"),
        "DEFAULT": ("slack", "email after 4h"),
        "SCREENSHOT": ("slack", "email after 4h"),
        "LOW": ("email", "slack after 8h"),
        "BULK": ("email", "slack after 8h"),
    }
    assert policies["on-call"].hours is None
    assert policies["ops-alerts"].hours == policies["daily-digest"].hours == "office"
    email = channels["email"]
    assert (email.to, email.digest) == (("ops@villagecompute.com",), "08:00"), "a digest a day"
    assert "pd-key" not in repr(settings)
