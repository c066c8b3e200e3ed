import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any, get_type_hints
from uuid import UUID

import pytest

from postmill.domain.errors import PayloadRefused
from postmill.domain.idempotency import Mode
from postmill.domain.job import JobView, NewJob
from postmill.domain.job_options import _CHECKS, ALIASES, JobOptions
from postmill.domain.lane import DEFAULT_TENANT
from postmill.domain.lifecycle import State

TENANT = UUID(int=7)
SOON = datetime(2026, 12, 1, tzinfo=UTC)


def test_a_job_by_name() -> None:
    job = NewJob.of("resize", {"width": 3}, tenant=TENANT, delay=5)
    assert (job.job_type, job.payload, job.tenant_id, job.delay) == (
        "resize",
        b'{"width":3}',
        TENANT,
        timedelta(seconds=5),
    )
    assert NewJob.of("resize", '{"width": 3}').payload == b'{"width": 3}'
    assert NewJob.of("resize") == NewJob("resize")


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: NewJob.of("re\0size"), "job_type"),
        (lambda: NewJob.of(""), "job_type"),
        (lambda: NewJob.of("resize", {"a": "\0"}), "args.a"),
        (lambda: NewJob.of("resize", "[]"), "args"),
    ],
)
def test_what_a_job_by_name_cannot_be(make: Any, path: str) -> None:
    with pytest.raises(PayloadRefused) as caught:
        make()
    assert caught.value.path == path


def test_using_gives_a_copy() -> None:
    job = NewJob("t")
    other = job.using(
        priority=3, tenant=str(TENANT), actor_type="user", actor_id=TENANT, mode="window", window=60
    )
    assert job == NewJob("t")
    assert job.tenant_id == DEFAULT_TENANT
    assert (other.priority, other.tenant_id, other.actor_id) == (3, TENANT, str(TENANT))
    assert (other.mode, other.window) == (Mode.WINDOW, timedelta(minutes=1))


def test_the_ends_of_what_a_column_can_hold() -> None:
    assert NewJob("t").using(priority=-(2**31), max_attempts=2**31 - 1) == NewJob(
        "t", priority=-(2**31), max_attempts=2**31 - 1
    )


def test_every_option_of_a_job_can_be_used_and_none_is_left_unchecked() -> None:
    fields = {field.name for field in dataclasses.fields(NewJob)}
    options = fields - {"job_type", "payload", "definition", "key_derived"}
    assert set(_CHECKS) == options
    assert set(get_type_hints(JobOptions)) == options | set(ALIASES)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"prioritty": 1}, r"unknown job option 'prioritty'; did you mean 'priority'\?"),
        ({"queue": "x"}, "unknown job option 'queue'"),
        ({"tenant": TENANT, "tenant_id": TENANT}, "given twice"),
    ],
)
def test_unknown_options_are_type_errors(options: dict[str, Any], why: str) -> None:
    with pytest.raises(TypeError, match=why):
        NewJob("t").using(**options)


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("tenant", "acme", "badly formed"),
        ("tenant", None, "must be text"),
        ("project", 7, "must be text"),
        ("priority", 1.5, "whole number"),
        ("priority", True, "whole number"),
        ("priority", 2**31, "must be from"),
        ("priority", -(2**31) - 1, "must be from"),
        pytest.param("priority", 10**5000, "must be from", id="priority-huge"),
        ("delay", -1, "0 or more"),
        ("delay", float("nan"), "NaN"),
        ("delay", timedelta.max, "ten years"),
        ("scheduled_for", datetime(2026, 12, 1), "without a time zone"),
        ("scheduled_for", "2026-12-01", "must be a datetime"),
        ("expires_at", datetime(2026, 12, 1), "without a time zone"),
        ("key", "k\0", "NUL"),
        ("key", "", "empty"),
        ("key", "k" * 513, "513 bytes"),
        ("mode", "sometimes", "none of: active, queued, window, ttl"),
        ("window", 0, "more than 0"),
        ("actor_type", "robot", "none of: user, system, api_key"),
        ("actor_type", None, "none of: user"),
        ("actor_id", 7, "must be text"),
        ("request_id", "\ud800", "lone surrogate"),
        ("correlation_id", 5, "must be text"),
        ("max_attempts", 0, "must be from 1"),
        ("timeout", 0, "more than 0"),
        ("source", "cron", "none of: manual, event, schedule, system"),
        ("lane_key", "", "empty"),
    ],
)
def test_bad_values_are_refused_by_the_name_of_the_option(option: str, value: Any, why: str) -> None:
    with pytest.raises(PayloadRefused, match=why) as caught:
        NewJob("t").using(**{option: value})
    assert caught.value.path in (option, f"{option}_id")
    assert len(str(caught.value)) < 300


def test_a_delay_and_an_instant_exclude_each_other() -> None:
    with pytest.raises(PayloadRefused, match="exclude each other"):
        NewJob("t").using(delay=5, scheduled_for=SOON)
    delayed = NewJob("t").using(delay=5)
    assert delayed.using(scheduled_for=SOON).delay is None
    assert delayed.using(scheduled_for=SOON).using(delay=1).scheduled_for is None
    assert delayed.using(scheduled_for=None).delay == timedelta(seconds=5)


@pytest.mark.parametrize("state", list(State))
def test_a_view_knows_whether_it_has_ended(state: State) -> None:
    view = JobView(
        id=TENANT, tenant_id=TENANT, job_type="t", queue="q", status=state, priority=1, attempt=1, max_attempts=5,
        payload={}, created_at=SOON,
    )  # fmt: skip
    assert view.finished is (state in {"succeeded", "failed", "canceled", "dead_letter"})
    assert view.succeeded is (state == "succeeded")
