"""Settings of budgets. They declare; what an operator changes later stays until they say something else."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from postmill.domain.budget_fields import check_budget_name, check_fields
from postmill.domain.errors import InvalidValue
from postmill.domain.settings_types import Section


class BudgetLevelSettings(Section):
    """One level, as `budgets.<NAME>.levels.<LEVEL>`; what is not said is as by default."""

    from_: Decimal | None = Field(
        default=None, alias="from", description="Share of the limit in percent from which the level holds."
    )
    factor: Decimal | None = Field(
        default=None, description="Factor for batch sizes: by default 1, 0.5, 0 and 0."
    )
    action: Literal["run", "defer", "stop"] | None = Field(
        default=None,
        description="What comes of a run: `run`, `defer` (nothing done, next time) or `stop` (given up).",
    )


class BudgetSettings(Section):
    """A cap on spend, as `budgets.<NAME>`."""

    limit: Decimal | None = Field(
        default=None, ge=0, description="Most that may be spent in a period, in `unit`."
    )
    monthly_limit: Decimal | None = Field(
        default=None, ge=0, description="Another name for `limit`, of a month."
    )
    period: Literal["month", "day"] = Field(
        default="month", description="Calendar month or day of `timezone`."
    )
    timezone: str | None = Field(
        default=None, description="Zone of the period; none is the tenant's, UTC for the platform."
    )
    unit: str = Field(default="USD", description="What is counted.")
    tenant: str | None = Field(
        default=None, description="Slug of the tenant whose budget it is; none: all tenants spend from it."
    )
    levels: dict[Literal["normal", "reduce", "queue", "hard_stop"], BudgetLevelSettings] = Field(
        default_factory=dict, description="Levels that differ from 0, 75, 90 and 100 percent."
    )
    alerts: dict[str, Literal["info", "warning", "critical"]] | None = Field(
        default=None,
        description="Severity by percent; none is 75 and 80 info, 90 warning, 100 critical.",
    )

    @model_validator(mode="after")
    def _is_a_budget(self) -> Self:
        if (self.limit is None) == (self.monthly_limit is None):
            raise ValueError("needs either limit or monthly_limit")
        if self.monthly_limit is not None and self.period != "month":
            raise ValueError("monthly_limit is that of a month; say limit")
        try:
            _ = self.fields
        except InvalidValue as fault:
            raise ValueError(str(fault)) from None
        return self

    @property
    def fields(self) -> dict[str, Any]:
        """What the database keeps of it."""
        given = {
            "limit": self.monthly_limit if self.limit is None else self.limit,
            "period": self.period,
            "timezone": self.timezone,
            "unit": self.unit,
            "levels": {name: level.model_dump(by_alias=True) for name, level in self.levels.items()},
            "alerts": self.alerts,
        }
        return check_fields(given, whole=True)


def declared_budgets(budgets: Mapping[str, BudgetSettings]) -> list[dict[str, Any]]:
    """The budgets of the settings as `register_budgets` takes them."""
    return [{"name": name, "tenant": one.tenant, **one.fields} for name, one in budgets.items()]


def check_names(budgets: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuses names that no budget can have."""
    for name in budgets:
        check_budget_name(name)
    return budgets
