"""Operations in bodies and answers: bulk acts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from postmill.domain.pace import MOST_PRIORITY, MOST_RATE, Kind
from postmill.domain.tags import MOST
from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import ID, TENANT, Key, Reason
from postmill.shapes.moments import Moment

GROUP = "9f86d081884c7d65"


class LetterSelection(Model):
    """Which open dead letters: those that meet all of this; nothing is all of them."""

    tenant_id: UUID | None = None
    definition_key: Key | None = Field(default=None, examples=["recompute-trained-tags"])
    queue: Key | None = Field(default=None, examples=["default"])
    reason: Key | None = Field(default=None, examples=["max_retries_exceeded"])
    error_group: Key | None = Field(default=None, examples=[GROUP])
    error_class: Key | None = Field(default=None, examples=["QuotaExceeded"])
    error_code: Key | None = None
    error_status: int | None = Field(default=None, ge=0, le=999, examples=[429])
    message: Key | None = Field(default=None, description="A part of the error's message, in any case.")
    given_up_after: Moment | None = None
    given_up_before: Moment | None = Field(default=None, examples=["2026-02-16T10:30:00Z"])
    ids: list[UUID] | None = Field(
        default=None, max_length=10_000, description="These ones.", examples=[[ID]]
    )


class PreviewOperation(Model):
    """Letters of which a bulk act is thought."""

    filter: LetterSelection = Field(default_factory=LetterSelection)


Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=512,
        description="Jobs in the query language: `type:SendEmail state:dead_letter since:2h`.",
        examples=["state:dead_letter type:recompute-trained-tags since:2h"],
    ),
]
JobIds = Annotated[
    list[UUID], Field(min_length=1, max_length=10_000, description="These jobs.", examples=[[ID]])
]


class AskImpact(Model):
    """Jobs of which a bulk act is thought: by `query` or `ids`."""

    kind: Kind = Field(examples=["replay"])
    query: Query | None = None
    ids: JobIds | None = Field(default=None, examples=[None])
    cut_off: UUID | None = Field(
        default=None, description="Only jobs with ids below it; an earlier answer's.", examples=[None]
    )


class NewOperation(Model):
    """A bulk act on the jobs that match now: one of `filter` (dead letters), `query` and `ids`."""

    kind: Kind = Field(examples=["replay"])
    filter: LetterSelection | None = Field(default=None, description="Dead letters, of a replay or discard.")
    query: Query | None = Field(default=None, examples=[None])
    ids: JobIds | None = Field(default=None, examples=[None])
    cut_off: UUID | None = Field(
        default=None, description="Of a query: only jobs with ids below it.", examples=[None]
    )
    rate: float | None = Field(
        default=None,
        gt=0,
        le=MOST_RATE,
        description="Jobs a second at most; null: what a worker gets done.",
        examples=[50],
    )
    canary: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="So many are replayed first; the rest waits until they have ended. More failures than `stop_ratio`"
        " pause it.",
        examples=[5],
    )
    stop_ratio: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of failures of the replays above which it is paused; null: any failure of the canary.",
        examples=[0.1],
    )
    again: bool = Field(default=False, description="Also those whose replay has ended already.")
    confirm: bool = Field(
        default=False,
        description="Somebody was asked: also those whose definition says `replay_class = ask`.",
    )
    despite_success: bool = Field(
        default=False,
        description="Also those of which a later job with the same key, or the same type and payload, has succeeded.",
    )
    version: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="Only once the definition is at this version."
    )
    original_version: bool = Field(
        default=False,
        description="Under the version of the definition that each job was made under: only workers that run it take its replay.",
    )
    same_version: bool = Field(
        default=False, description="Only jobs whose definition has not changed since they were enqueued."
    )
    fair: bool = Field(default=False, description="Tenants take turns, one job each; else the oldest first.")
    priority: int | None = Field(
        default=None,
        ge=-MOST_PRIORITY,
        le=MOST_PRIORITY,
        description="Of the new jobs of a replay (null: that of the old ones); of `priority` the new one.",
        examples=[1000],
    )
    queue: Key | None = Field(default=None, description="Where to, of `move`.", examples=[None])
    run_at: Moment | None = Field(default=None, description="When, of `run_at`.", examples=[None])
    tags: list[str] | None = Field(
        default=None,
        max_length=2 * MOST,
        description="Of `tag`: those to be given, and with a minus before them those to be taken away.",
        examples=[None],
    )
    start_at: Moment | None = Field(default=None, description="Nothing is done before.", examples=[None])
    reason: Reason = None


class ChangeOperation(Model):
    """Why an operation is changed."""

    reason: Reason = None


class Operation(Answer):
    """A bulk act as it stands."""

    id: UUID = Field(examples=[ID])
    tenant_id: UUID | None = Field(description="Whose jobs; null: of several tenants.", examples=[TENANT])
    kind: Kind = Field(examples=["replay"])
    status: Literal["proposed", "running", "paused", "finished", "aborted"] = Field(
        description="proposed: somebody else has to approve it first.", examples=["running"]
    )
    stage: Literal["select", "canary", "rest"] = Field(
        description="select: its jobs are being counted; canary: the first replays have not all ended yet.",
        examples=["rest"],
    )
    filter: dict[str, Any] = Field(
        description="What was asked for: fields of a letter filter, or `query`, or `ids`.",
        examples=[{"error_status": 429}],
    )
    rate: float | None = Field(examples=[50])
    canary: int = Field(examples=[5])
    again: bool
    confirm: bool
    despite_success: bool
    version: int | None
    same_version: bool
    original_version: bool
    fair: bool
    priority: int | None
    queue: str | None
    run_at: datetime | None
    tags: list[str] | None
    stop_ratio: float | None
    start_at: datetime | None
    approve_above: int | None = Field(description="With more jobs than that somebody else has to approve it.")
    approved_by: str | None
    approved_at: datetime | None
    cut_off: UUID | None = Field(description="Jobs with ids from here on are not meant.")
    reason: str | None
    total: int = Field(description="Jobs selected, so far.", examples=[8333])
    done: int = Field(description="To which it was done.", examples=[4100])
    skipped: int = Field(description="Left as they are.", examples=[3])
    failed: int = Field(description="Refused, or in error.", examples=[1])
    actor_type: str = Field(examples=["user"])
    actor_id: str | None = Field(examples=["ada"])
    created_at: datetime
    started_at: datetime | None
    paused_at: datetime | None
    paused_by: str | None
    pause_reason: str | None = Field(
        description="`canary: …`, `failures: …`: too many of its replays did not succeed; `counted: …`: resume it to go on."
    )
    ended_at: datetime | None


class WholeOperation(Operation):
    """A bulk act, and what its replays have come to."""

    results: dict[str, int] = Field(
        description="Its last 10,000 replays by their state now.",
        examples=[{"succeeded": 4000, "running": 100}],
    )


class OperationLetter(Answer):
    """One job of an operation."""

    n: int = Field(examples=[1])
    job_id: UUID = Field(examples=[ID])
    status: str = Field(
        description="waiting, replayed, discarded, canceled, due, changed, or why not: succeeded_since, invalid, error …",
        examples=["replayed"],
    )
    new_id: UUID | None = Field(description="The replay, or the job that stands in its way.", examples=[ID])
    detail: str | None
    at: datetime | None


class NamedCount(Answer):
    """So many jobs of a tenant, queue, state or age."""

    name: str = Field(examples=["acme"])
    count: int = Field(examples=[45])


class TypeCount(Answer):
    """So many jobs of a definition, made under one of its versions."""

    job_type: str = Field(examples=["recompute-trained-tags"])
    version: int | None = Field(examples=[3])
    now: int | None = Field(examples=[4])
    replay_class: str | None = Field(examples=["safe"])
    state: Literal["current", "changed", "inactive", "unknown_type"] = Field(examples=["changed"])
    count: int = Field(examples=[45])


class ErrorCount(Answer):
    """So many jobs that ended with an error."""

    error_class: str = Field(examples=["QuotaExceeded"])
    error_group: str | None = Field(examples=[GROUP])
    count: int = Field(examples=[45])


class Impact(Answer):
    """What a bulk act would meet; nothing is done."""

    count: int = Field(description="How many were counted.", examples=[45])
    complete: bool = Field(description="Whether these are all.")
    cut_off: UUID = Field(
        description="Jobs with ids from here on are not meant; give it back to begin.", examples=[ID]
    )
    looked_at: int = Field(description="Of how many, the newest, the rest is told.", examples=[45])
    fit: int = Field(description="How many of them the act can touch, by their state.", examples=[43])
    tenants: int = Field(examples=[3])
    oldest: datetime | None
    newest: datetime | None
    by_tenant: list[NamedCount]
    by_type: list[TypeCount]
    by_error: list[ErrorCount]
    by_age: list[NamedCount] = Field(description="Enqueued so long ago: 1h, 24h, 7d, older.")
    by_state: list[NamedCount]
    by_build: list[NamedCount] = Field(
        description="Which builds of the application failed them, of the newest 1,000; empty within a tenant."
    )
    builds_now: list[NamedCount] = Field(
        description="Which builds live workers that serve these job types run now: so many workers of each."
    )
    never: int = Field(description="Of definitions whose `replay_class` is never.")
    ask: int = Field(description="Of definitions whose `replay_class` is ask.")
    succeeded_since: int = Field(
        description="Of which a later job with the same key, or the same type and payload, has succeeded."
    )
    past_deadline: int
    version_changed: int = Field(description="Whose definition has changed since.")
    version_gone: int = Field(
        description="Made under a version of their definition that nobody can run any more."
    )
    version_unserved: list[NamedCount] = Field(
        description="By the version that they were made under: those that no live worker runs now."
    )
    gone: int = Field(description="Whose definition is gone or takes no new jobs.")
    paused_queues: list[NamedCount]
    over_budget: list[NamedCount] = Field(description="Of tenants whose budget would not let them run.")
