from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest

from postmill.domain.lifecycle import Verb
from postmill.telemetry import events
from postmill.telemetry.events import ALL_EVENTS, JOB_EVENTS, Event, JobEvent, JobFacts


@pytest.mark.parametrize("known", ALL_EVENTS, ids=lambda known: known.__name__)
def test_every_event_is_a_frozen_slotted_dataclass_with_a_stable_name(known: type[Event]) -> None:
    assert dataclasses.is_dataclass(known)
    assert known.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in known.__dict__
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", known.name)
    assert known.__doc__
    assert not known.__doc__.startswith(f"{known.__name__}("), "the docstring is dataclass's own"


def test_names_are_unique_and_everything_is_exported() -> None:
    assert len({known.name for known in ALL_EVENTS}) == len(ALL_EVENTS)
    assert {known.__name__ for known in ALL_EVENTS} <= set(events.__all__)
    assert all(hasattr(events, name) for name in events.__all__)


def test_the_seeds_names_are_there() -> None:
    names = {known.name for known in ALL_EVENTS}
    assert {
        "job_claimed",
        "job_started",
        "job_completed",
        "job_failed",
        "job_deadlettered",
        "lease_lost",
    } <= names


def test_a_job_event_reads_as_its_job(facts: Callable[..., JobFacts]) -> None:
    job = facts()
    for known in JOB_EVENTS:
        event = known(job)
        assert isinstance(event, JobEvent)
        assert (event.job_id, event.job_type, event.queue) == (job.job_id, job.job_type, job.queue)
        assert (event.tenant_id, event.attempt) == (job.tenant_id, job.attempt)


def test_events_are_immutable_and_hold_no_dict(facts: Callable[..., JobFacts]) -> None:
    event: Any = events.JobStarted(facts())
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.waited = 1.0
    assert not hasattr(event, "__dict__")


def test_each_verb_that_ends_or_moves_a_job_has_its_event() -> None:
    """Enqueue, renew, replay, discard and prune are told by other means: counters, audit, PartitionsPruned."""
    told = {
        Verb.PROMOTE: events.JobsPromoted,
        Verb.CLAIM: events.JobClaimed,
        Verb.COMPLETE: events.JobCompleted,
        Verb.RETRY: events.JobRetryScheduled,
        Verb.SNOOZE: events.JobSnoozed,
        Verb.FAIL: events.JobFailed,
        Verb.BURY: events.JobDeadLettered,
        Verb.CANCEL: events.JobCanceled,
        Verb.RELEASE: events.JobInterrupted,
        Verb.RESCUE: events.JobLost,
        Verb.PRUNE: events.PartitionsPruned,
    }
    assert set(told) == set(Verb) - {Verb.ENQUEUE, Verb.RENEW, Verb.REPLAY, Verb.DISCARD}
    assert set(told.values()) <= set(ALL_EVENTS)
