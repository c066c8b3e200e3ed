"""What happened lately, in numbers."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from postmill.shapes.base import Answer


class Spread(Answer):
    """Lengths of time in seconds: the average, and below what half, 95 and 99 of a hundred were."""

    average: float = Field(examples=[0.8])
    p50: float = Field(examples=[0.4])
    p95: float = Field(examples=[2.1])
    p99: float = Field(examples=[4.7])


class Stat(Answer):
    """What happened in one bucket of time, to one queue, definition or tenant."""

    bucket: datetime = Field(description="The moment at which it begins.")
    name: str = Field(
        description="The queue, the definition's key or the tenant's id, as `by` asks; empty for all together.",
        examples=["default"],
    )
    counts: dict[str, int] = Field(
        description="By outcome: enqueued, succeeded, failed, canceled, dead_letter, retried, lost, snoozed, interrupted,"
        " discarded, replayed. What never happened is left out.",
        examples=[{"enqueued": 120, "succeeded": 117, "retried": 4, "dead_letter": 1}],
    )
    failure_rate: float | None = Field(
        description="The share of ended jobs that failed or became dead letters; null: none has ended.",
        examples=[0.008],
    )
    retry_rate: float | None = Field(
        description="The share of attempts after which another follows, since they failed or were lost.",
        examples=[0.03],
    )
    wait: Spread | None = Field(description="From due to the handler's start. Null: nothing was measured.")
    run: Spread | None = Field(description="How long handlers ran.")
    total: Spread | None = Field(
        description="From due to finished, of jobs that succeeded, failed or became dead letters."
    )


class Stats(Answer):
    """What happened."""

    items: list[Stat]
