"""Budgets in bodies and answers. Amounts are decimal text in answers, and number or text in bodies: both exact."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from postmill.domain.budget import MOST, MOST_TOKENS
from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import ID, TENANT, Reason
from postmill.shapes.moments import Moment

Level = Literal["NORMAL", "REDUCE", "QUEUE", "HARD_STOP"]
Action = Literal["run", "defer", "stop"]
Severity = Literal["info", "warning", "critical"]
LevelName = Literal["normal", "reduce", "queue", "hard_stop"]
Kind = Literal["spend", "estimate", "adjust", "correct"]
RequestStatus = Literal["open", "granted", "declined"]

Amount = Annotated[Decimal, Field(ge=0, le=MOST, examples=["500"])]
Change = Annotated[Decimal, Field(ge=-MOST, le=MOST, examples=["-0.5"])]
Tokens = Annotated[int, Field(ge=-MOST_TOKENS, le=MOST_TOKENS)]
Counted = Annotated[int, Field(ge=0, le=MOST_TOKENS)]


class BudgetLevel(Model):
    """One level of a budget; what is null is as by default."""

    from_: Decimal | None = Field(
        default=None,
        alias="from",
        ge=0,
        le=1000,
        description="Share of the limit in percent from which it holds.",
        examples=["75"],
    )
    factor: Decimal | None = Field(
        default=None, ge=0, le=1, description="Factor for batch sizes.", examples=["0.5"]
    )
    action: Action | None = Field(
        default=None,
        description="`run`; `defer`: a run ends as succeeded with nothing done; `stop`: it is given up.",
        examples=["run"],
    )


Levels = dict[LevelName, BudgetLevel]
Alerts = dict[str, Severity]


class BudgetChanges(Model):
    """What is said of a budget; what is not named stays."""

    limit: Amount | None = Field(
        default=None, description="Most per period, in `unit`; counts in the present one at once."
    )
    period: Literal["month", "day"] | None = Field(
        default=None, description="Counts from the end of the present period on.", examples=["month"]
    )
    timezone: str | None = Field(
        default=None,
        max_length=64,
        description="Zone of the periods; null: the tenant's, or UTC.",
        examples=["Europe/Berlin"],
    )
    unit: str | None = Field(
        default=None,
        min_length=1,
        max_length=16,
        description="What is counted; stays once something was spent.",
        examples=["USD"],
    )
    levels: Levels | None = Field(default=None, description="Levels that differ from the default.")
    alerts: Alerts | None = Field(
        default=None, description="Severity by percent.", examples=[{"75": "info", "90": "warning"}]
    )
    reason: Reason = None


class WholeBudget(BudgetChanges):
    """A budget; what is not named is as by default."""

    limit: Amount = Field(description="Most per period, in `unit`.")


class BudgetPeriodLimit(Model):
    """The limit of one period."""

    limit: Amount
    until: Moment | None = Field(
        default=None,
        description="A moment of the period after which the limit is again what it was; null: to its end.",
        examples=["2025-01-20T18:00:00Z"],
    )
    reason: Reason = None


class NewBudgetRequest(Model):
    """Another limit that a tenant asks for."""

    limit: Amount
    until: Moment | None = Field(
        default=None,
        description="A moment of the present period after which the limit is again what it was; null: for good.",
        examples=["2025-01-20T18:00:00Z"],
    )
    reason: str = Field(min_length=1, max_length=2000, examples=["the Christmas rush"])


class BudgetAnswer(Model):
    """What the platform answers to a request that it grants."""

    answer: str | None = Field(
        default=None, max_length=2000, description="For the tenant to read.", examples=["until then"]
    )


class BudgetRefusal(Model):
    """Why a request is declined."""

    answer: str = Field(
        min_length=1, max_length=2000, description="For the tenant to read.", examples=["not this month"]
    )


class BudgetRequest(Answer):
    """Another limit that a tenant asked for, and what came of it."""

    id: UUID = Field(examples=[ID])
    budget_id: UUID = Field(examples=[ID])
    budget: str = Field(examples=["ai-tagging"])
    unit: str = Field(examples=["USD"])
    tenant_id: UUID = Field(examples=[TENANT])
    tenant_slug: str = Field(examples=["bakery"])
    limit: Decimal = Field(examples=["700"])
    until: datetime | None
    reason: str
    actor_type: str = Field(examples=["user"])
    actor_id: str | None
    created_at: datetime
    status: RequestStatus
    decided_at: datetime | None
    decided_by: str | None
    answer: str | None


class BudgetCorrection(Model):
    """A correcting line of the ledger."""

    amount: Change = Field(description="Below 0: too much was booked.")
    reason: str = Field(min_length=1, max_length=2000, examples=["the provider's invoice"])
    period: str | None = Field(
        default=None,
        max_length=10,
        description="An earlier period; null: the present one.",
        examples=["2025-01"],
    )
    tokens_in: Tokens = 0
    tokens_out: Tokens = 0


class Standing(Answer):
    """Where a budget stands in its present period."""

    period: str = Field(examples=["2025-01"])
    starts_at: datetime
    ends_at: datetime
    level: Level = Field(examples=["REDUCE"])
    action: Action = Field(examples=["run"])
    factor: Decimal = Field(description="For batch sizes.", examples=["0.5"])
    limit: Decimal = Field(examples=["500"])
    spent: Decimal = Field(description="The sum of the ledger's lines.", examples=["391.2"])
    reserved: Decimal = Field(description="Held by running attempts.", examples=["0.18"])
    percent: Decimal = Field(description="Share that is spent or reserved.", examples=["78.27"])
    calls: int = Field(examples=[65200])
    tokens_in: int = Field(examples=[65200000])
    tokens_out: int = Field(examples=[13040000])


class Budget(Answer):
    """A budget and where it stands."""

    id: UUID = Field(examples=[ID])
    name: str = Field(examples=["ai-tagging"])
    tenant_id: UUID | None = Field(description="Null: all tenants spend from it.", examples=[TENANT])
    period: Literal["month", "day"]
    timezone: str = Field(examples=["UTC"])
    unit: str = Field(examples=["USD"])
    limit: Decimal = Field(description="Of new periods.", examples=["500"])
    levels: dict[str, BudgetLevel]
    alerts: dict[str, str] = Field(
        examples=[{"75": "info", "80": "info", "90": "warning", "100": "critical"}]
    )
    declared: bool = Field(description="It stands in the settings.")
    created_at: datetime
    updated_at: datetime
    standing: Standing


class BudgetAlert(Answer):
    """A threshold that a period came to."""

    percent: Decimal = Field(examples=["75"])
    severity: Severity
    crossed_at: datetime
    resolved_at: datetime | None


class BudgetPeriod(Answer):
    """A period of a budget."""

    period: str = Field(examples=["2025-01"])
    starts_at: datetime
    ends_at: datetime
    limit: Decimal = Field(examples=["500"])
    spent: Decimal = Field(examples=["391.2"])
    reserved: Decimal = Field(examples=["0"])
    calls: int = Field(examples=[65200])
    tokens_in: int
    tokens_out: int
    alerts: list[BudgetAlert]


class BudgetShare(Answer):
    """What went to one job type, tenant (slug) or actor (`type:id`)."""

    key: str = Field(description="Empty: corrections, which name none.", examples=["AI_TAGGING"])
    amount: Decimal = Field(examples=["391.2"])
    calls: int
    tokens_in: int
    tokens_out: int


class BudgetLine(Answer):
    """A line of the ledger, which is never changed."""

    id: UUID
    at: datetime
    kind: Kind = Field(
        description="`spend`: a settled call; `estimate`: one whose cost nobody told; `adjust`: what an estimate was off by; "
        "`correct`: an operator's.",
        examples=["spend"],
    )
    amount: Decimal = Field(examples=["0.006"])
    tokens_in: int = Field(examples=[1000])
    tokens_out: int = Field(examples=[200])
    tenant_id: UUID | None
    reservation_id: UUID | None
    job_id: UUID | None
    attempt: int | None
    job_type: str | None
    actor_type: str
    actor_id: str | None
    reason: str | None
