"""Triggers as they are written: every field that is wrong is named, at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from postmill.domain.declared import on_event, schedule
from postmill.domain.errors import DefinitionError
from postmill.domain.job_type import job
from postmill.domain.registry import Registry
from postmill.domain.trigger import TriggerRefused, check_trigger, jitter_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)
# Seed 3, "Triggers (tenant admin)", word for word.
SEED_EVENT = {
    "label": "Resync on folder change",
    "trigger_type": "event",
    "event_name": "provider.folder.updated",
    "definition_key": "sync-dropbox",
    "payload_template": {"provider_id": "{{event.provider_id}}", "path_prefix": "{{event.folder_path}}"},
    "dedupe_window_seconds": 120,
}
SEED_SCHEDULE = {
    "label": "Nightly provider sync",
    "trigger_type": "schedule",
    "cron_expr": "0 2 * * *",
    "timezone": "America/New_York",
    "definition_key": "sync-dropbox",
    "payload_template": {"path_prefix": "/"},
}


def faults(**changes: Any) -> dict[str, str]:
    base = SEED_EVENT if "event_name" in changes else SEED_SCHEDULE
    with pytest.raises(TriggerRefused) as refused:
        check_trigger({**base, **changes})
    return {fault.path: fault.why for fault in refused.value.faults}


def test_the_triggers_of_the_seed_are_fine() -> None:
    assert check_trigger(SEED_EVENT).window(NOW) == 120
    nightly = check_trigger(SEED_SCHEDULE)
    assert nightly.window(NOW) == 300
    assert nightly.schedule(NOW).after(NOW) == datetime(2026, 3, 1, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cron", "why"),
    [
        ("", "is empty"),
        (" \n ", "is empty"),
        ("*" * 10_240, "at most 200 characters"),
        ("\n".join(["* * * * *"] * 21), "at most 20 are allowed"),
        ("0 0 31 2 *", "'0 0 31 2 *'"),
        ("0 0 30 2 *", "'0 0 30 2 *'"),
        ("0 0 31 4,6,9,11 *", "'0 0 31 4,6,9,11 *'"),
        ("0 0 * * 8", "day-of-week"),
        ("60 * * * *", "minute"),
        ("* * * *", "is not five fields"),
        ("0 0 * * * *", "is not five fields"),
        ("@reboot", "is none of"),
        ("² * * * *", "minute"),
        ("0 0 31 2 * * ; rm", "is not five fields"),
        (["0 9 * * *", "0 0 31 2 *"], "'0 0 31 2 *'"),
        (7, "is text, not int"),
    ],
)
def test_lines_that_are_none(cron: Any, why: str) -> None:
    assert why in faults(cron_expr=cron)["cron_expr"]


def test_every_wrong_field_is_named_at_once() -> None:
    found = faults(
        label="", timezone="Amsterdam", missed="never", overlap=1, dst="", jitter_seconds=-1, missed_limit=0, is_enabled="yes",
        dedupe_window_seconds=1.5, definition_key=None, payload_template={"a": "{{ event.x }}"}, weekday=1,
    )  # fmt: skip
    assert set(found) == {
        "label", "timezone", "missed", "overlap", "dst", "jitter_seconds", "missed_limit", "is_enabled",
        "dedupe_window_seconds", "definition_key", "payload_template.a", "weekday",
    }  # fmt: skip
    assert "did you mean 'Europe/Amsterdam'?" in found["timezone"]


def test_events_and_schedules_do_not_mix() -> None:
    assert "belongs to schedules" in faults(event_name="a", cron_expr="* * * * *")["cron_expr"]
    assert "exclude each other" in faults(every="5m")["every"]
    assert "is missing" in faults(cron_expr=None)["cron_expr"]
    assert "at least 1 second" in faults(cron_expr=None, every="10ms")["every"]
    assert "no name of an event" in faults(event_name="provider.*.updated")["event_name"]


def test_the_default_window_lets_each_run_of_a_frequent_schedule_count() -> None:
    each_minute = check_trigger(SEED_SCHEDULE | {"cron_expr": "* * * * *"})
    market = check_trigger(
        SEED_SCHEDULE | {"cron_expr": ["30 9 * * 1-5", "*/30 10-15 * * 1-5", "0 16 * * 1-5"]}
    )
    assert (each_minute.window(NOW), market.window(NOW)) == (60, 300)
    due = market.schedule(NOW).upcoming(NOW)
    assert [next(due).hour for _ in range(14)] == [
        14,
        *(h for hour in range(15, 21) for h in (hour, hour)),
        21,
    ]


def test_jitter_is_the_same_whoever_asks() -> None:
    ids = [uuid4() for _ in range(200)]
    found = [jitter_of(id, NOW, 60) for id in ids]
    assert found == [jitter_of(id, NOW, 60) for id in ids]
    assert (
        timedelta(0)
        <= min(found)
        < timedelta(seconds=10)
        < timedelta(seconds=50)
        < max(found)
        <= timedelta(seconds=60)
    )
    assert jitter_of(ids[0], NOW, 0) == timedelta(0)


@job
def clean_up(days: int) -> None: ...


def test_triggers_that_code_declares() -> None:
    nightly = schedule(
        "nightly", clean_up, cron="0 2 * * *", timezone="Europe/Amsterdam", payload={"days": 7}
    )
    on_user = on_event("on user", clean_up, "user.*", payload={"days": "{{ event.days }}"})
    columns = nightly.columns("shop.jobs")
    assert (columns["job_type"], columns["declared_in"], columns["payload_template"]) == (
        "clean_up",
        "shop.jobs",
        {"days": 7},
    )
    registry = Registry(
        [clean_up], triggers=[("shop.jobs", nightly), ("shop.jobs", on_user)], modules=["shop.jobs"]
    )
    assert [trigger.label for _, trigger in registry.with_lanes(lambda queue: "tenant").triggers] == [
        "nightly",
        "on user",
    ]
    with pytest.raises(DefinitionError, match="two triggers are called 'nightly': in a and in b"):
        Registry(triggers=[("a", nightly), ("b", schedule("nightly", "other", every="5m"))])


@pytest.mark.parametrize(
    ("declare", "why"),
    [
        (lambda: schedule("t", clean_up, cron="0 0 31 2 *"), "trigger 't': cron_expr"),
        (
            lambda: schedule("t", clean_up, cron="0 2 * * *", payload={"days": "many"}),
            "payload does not fit 'clean_up'",
        ),
        (lambda: schedule("t", clean_up), "cron_expr: is missing"),
        (lambda: on_event("t", clean_up, "a b"), "event_name"),
        (
            lambda: on_event("t", clean_up, "a", payload={"days": "{{ schedule.date }}"}),
            "there is no 'schedule' here",
        ),
    ],
)
def test_declarations_that_are_wrong(declare: Any, why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        declare()
