"""How many workers a queue needs, in answers."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from postmill.shapes.base import Answer


class Scaling(Answer):
    """What a queue has to do, who does it, and how many workers it needs. Fields are added only, never taken away."""

    queue: str = Field(examples=["q:mail"])
    at: datetime = Field(description="When it was measured, by the database's clock.")
    paused: bool = Field(examples=[False])
    waiting: int = Field(description="Jobs that are due.", examples=[1200])
    at_least: bool = Field(
        description="There may be more waiting: counting ends at 10,000.", examples=[False]
    )
    oldest_seconds: float | None = Field(
        description="How long the first of them has waited.", examples=[41.5]
    )
    running: int = Field(examples=[20])
    arriving_per_second: float = Field(description="In the last five whole minutes.", examples=[12.4])
    finishing_per_second: float = Field(description="In the last five whole minutes.", examples=[9.8])
    run_seconds: float | None = Field(
        description="How long a job runs, on average; null: none has ended lately.", examples=[1.5]
    )
    workers: int = Field(description="Live sessions that claim.", examples=[2])
    draining_workers: int = Field(description="Those that only finish what they have.", examples=[0])
    slots: int = Field(description="Jobs at once, of those that claim.", examples=[20])
    drain_seconds: float = Field(description="Within so long what waits shall have started.", examples=[120])
    slots_each: int = Field(description="Slots of one worker.", examples=[10])
    desired_slots: int = Field(examples=[34])
    desired_workers: int = Field(description="What an autoscaler reads.", examples=[4])
    because: Literal["idle", "paused", "rate", "backlog", "running", "unknown_length", "least", "most"] = (
        Field(description="What decided.", examples=["rate"])
    )
    text: str = Field(
        description="How.",
        examples=[
            "12.4 a second arrive and run for 1.5 s: 18.6 slots; 1200 wait and shall have started within 120 s: 15 slots"
        ],
    )
