"""Limits in bodies and answers."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from postmill.domain.limit import MOST
from postmill.shapes.base import Answer, Model

Number = Annotated[int, Field(ge=1, le=MOST)]


class LimitRate(Model):
    """Starts per time, exactly, over the whole fleet."""

    count: Number = Field(examples=[10])
    seconds: float = Field(gt=0, le=31_536_000, examples=[60])
    burst: Number | None = Field(
        default=None, description="How many at once after a pause; null is `count`.", examples=[10]
    )


class NewLimit(Model):
    """What a limit is from now on. Neither `max_running` nor `rate`: there is none, even if code declares one."""

    max_running: Number | None = Field(default=None, description="Jobs at once.", examples=[3])
    rate: LimitRate | None = None
    reason: str | None = Field(
        default=None, max_length=2000, description="Why; for the audit log.", examples=["provider is slow"]
    )


class LimitUse(Answer):
    """One of the things that a limit counts each for itself."""

    parts: list[str | None] = Field(description="What its parts are worth.", examples=[["example.org"]])
    running: int = Field(examples=[3])
    job_id: UUID = Field(description="One of its jobs.")


class FleetLimit(Answer):
    """A limit over the whole fleet, with what is used of it now."""

    name: str = Field(examples=["type:screenshot"])
    queue: str | None = Field(description="It is on the jobs of this queue.", examples=[None])
    job_type: str | None = Field(description="It is on the jobs of this type.", examples=["screenshot"])
    tenant: str | None = Field(description="It is on the jobs of this tenant.", examples=[None])
    per: list[str] = Field(description="What is counted each for itself.", examples=[["payload.host"]])
    max_running: int | None = Field(description="Jobs at once; null is any number.", examples=[3])
    rate: LimitRate | None
    declared: bool = Field(description="Code or settings say something of it.", examples=[True])
    edited: bool = Field(description="An operator set it; that wins.", examples=[False])
    running: int = Field(description="Jobs within it now.", examples=[3])
    keys: int = Field(description="How many different ones these are.", examples=[1])
    at_cap: int = Field(description="How many of them are full.", examples=[1])
    wait_seconds: float | None = Field(
        description="For how long its rate lets nothing start; null where each is counted for itself.",
        examples=[0],
    )


class FleetLimitDetail(FleetLimit):
    """A limit, with the fullest of what it counts."""

    fullest: list[LimitUse]
