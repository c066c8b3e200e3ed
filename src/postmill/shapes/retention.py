"""Rules of retention in bodies and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from postmill.domain.retention import SUBJECTS
from postmill.shapes.base import Answer, Model

SUBJECT_LIST = ", ".join(f"`{name}`" for name in SUBJECTS)


class RetentionRule(Answer):
    """How long something is kept."""

    subject: str = Field(description=f"One of {SUBJECT_LIST}.", examples=["failed"])
    keep_seconds: float | None = Field(description="Null is for ever.", examples=[2592000.0])
    source: Literal["operator", "tenant", "settings", "default"] = Field(
        description="Who says so; `tenant`: its setting `retention_seconds`.", examples=["operator"]
    )
    common: bool = Field(description="It is the rule of everybody.", examples=[False])
    changed_at: datetime | None


class RetentionRules(Answer):
    """All of them."""

    items: list[RetentionRule]


class RetentionChange(Model):
    """For how long from now on."""

    keep_seconds: float | None = Field(
        ge=0,
        le=3_162_240_000,
        description="An hour to 100 years; null is for ever, where that may be; 0 for `archive` of a tenant: nothing of it"
        " goes to the archive, and what is there goes.",
        examples=[7776000],
    )
    reason: str | None = Field(
        default=None, min_length=1, max_length=2000, description="Why; for the audit log."
    )
