"""What the doctor answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from postmill.shapes.base import Answer

Level = Literal["ok", "warn", "fail"]


class Finding(Answer):
    """What one check found."""

    check: str = Field(description="Stable name of the check.", examples=["workers"])
    level: Level = Field(examples=["warn"])
    summary: str = Field(description="What was seen, in one line.", examples=["no worker is running"])
    advice: str = Field(
        description="What to do about it; empty: nothing.", examples=["start one: postmill worker MODULE"]
    )
    details: list[dict[str, Any]] = Field(description="The rows behind the summary.")


class Report(Answer):
    """All findings of a round."""

    level: Level = Field(description="That of the worst finding.", examples=["warn"])
    checks: list[Finding]
