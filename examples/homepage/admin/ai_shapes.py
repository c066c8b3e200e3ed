"""What the admin API says of AI usage. Money is in cents, and `percentUsed` what is spent or reserved of the limit."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from examples.homepage.statements import Row

Month = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{3}-(0[1-9]|1[0-2])$")]

_LEVELS = ("NORMAL", "REDUCE", "QUEUE", "HARD_STOP")


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


class Usage(_Shape):
    """One month."""

    month: Month
    provider: str
    total_requests: int
    total_tokens_input: int
    total_tokens_output: int
    estimated_cost_cents: float
    budget_limit_cents: float
    percent_used: float
    updated_at: datetime

    @classmethod
    def of(cls, found: Row) -> Self:
        """From a row of `ai_usage_tracking`."""
        return cls(**_figures(found))


class UsageNow(Usage):
    """This month. `resetsAt`: when the next one begins."""

    budget_action: Literal["NORMAL", "REDUCE", "QUEUE", "HARD_STOP"]
    reserved_cents: float
    remaining_cents: float
    resets_at: datetime

    @classmethod
    def of(cls, found: Row) -> Self:
        """From a row of `ai_usage_tracking` with the standing of the budget."""
        used = found["estimated_cost_cents"] + found["reserved_cents"]
        return cls(
            **_figures(found, used),
            budget_action=_LEVELS[found["level"] - 1],  # type: ignore[arg-type]
            reserved_cents=found["reserved_cents"],
            remaining_cents=max(found["budget_limit_cents"] - used, 0),
            resets_at=found["ends_at"],
        )


class Cost(_Shape):
    """What one job type, or one user, has spent of a month."""

    name: str
    cost_cents: float
    requests: int
    tokens_input: int
    tokens_output: int


class BudgetLimit(_Shape):
    """Another limit of one month."""

    budget_limit_cents: int = Field(ge=0, le=100_000_000)


def _figures(found: Row, used: Any = None) -> dict[str, Any]:
    limit, used = found["budget_limit_cents"], found["estimated_cost_cents"] if used is None else used
    own = {name: found[name] for name in Usage.model_fields if name not in ("month", "percent_used")}
    share = round(float(used / limit * 100), 2) if limit else 100.0
    return own | {"month": found["month"].strftime("%Y-%m"), "percent_used": share}
