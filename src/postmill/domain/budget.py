"""Budgets: how much may be spent per period, and what comes of how much is.

Levels are those of seed 1, section 13: NORMAL below 75 % of the limit, REDUCE from 75, QUEUE from 90, HARD_STOP from 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from enum import StrEnum
from typing import Any
from uuid import UUID

from postmill.domain.errors import InvalidValue

MOST = Decimal(10) ** 12
"""No amount is greater."""

PLACES = Decimal(1).scaleb(-12)
"""The twelfth decimal is the last one that counts; floats are rounded to it, half to even."""

MOST_TOKENS = 10**15


class Level(StrEnum):
    """How far a budget is used up."""

    NORMAL = "NORMAL"
    REDUCE = "REDUCE"
    QUEUE = "QUEUE"
    HARD_STOP = "HARD_STOP"


class BudgetAction(StrEnum):
    """What comes of a run: it runs, ends as succeeded with nothing done, or is given up."""

    RUN = "run"
    DEFER = "defer"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class LevelRule:
    """One level: from which share of the limit (percent), the factor for batch sizes, and the action."""

    level: Level
    from_percent: Decimal
    factor: Decimal
    action: BudgetAction


DEFAULT_LEVELS = (
    LevelRule(Level.NORMAL, Decimal(0), Decimal(1), BudgetAction.RUN),
    LevelRule(Level.REDUCE, Decimal(75), Decimal("0.5"), BudgetAction.RUN),
    LevelRule(Level.QUEUE, Decimal(90), Decimal(0), BudgetAction.DEFER),
    LevelRule(Level.HARD_STOP, Decimal(100), Decimal(0), BudgetAction.STOP),
)

DEFAULT_ALERTS: dict[Decimal, str] = {
    Decimal(75): "info",
    Decimal(80): "info",
    Decimal(90): "warning",
    Decimal(100): "critical",
}


def level_of(used: Decimal, limit: Decimal, rules: Sequence[LevelRule] = DEFAULT_LEVELS) -> LevelRule:
    """The level of a budget of which `used` is spent or reserved. Exact: nothing is divided."""
    return [rule for rule in rules if used * 100 >= rule.from_percent * limit or rule is rules[0]][-1]


def batch_of(size: int, factor: Decimal) -> int:
    """A batch size under a factor, rounded down; at least 1 where the factor is not 0.

    Raises:
        InvalidValue: the size is no whole number from 0 on.
    """
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise InvalidValue(f"a batch has a whole number of items, not {size!r}")
    return 0 if not factor or not size else max(1, int(size * factor))


def amount(value: object, what: str = "an amount", *, negative: bool = False) -> Decimal:
    """An amount of money (or of whatever the budget's unit is): Decimal, int, float or decimal text.

    Raises:
        InvalidValue: it is no number, not finite, below 0 (unless `negative`), or above 10¹².
    """
    if isinstance(value, bool) or not isinstance(value, Decimal | int | float | str):
        raise InvalidValue(f"{what}: expected a number such as 0.09, not {value!r}")
    try:
        found = Decimal(str(value).strip() if isinstance(value, float | str) else value)
    except InvalidOperation:
        raise InvalidValue(f"{what}: expected a number such as 0.09, not {str(value)[:40]!r}") from None
    if not found.is_finite():
        raise InvalidValue(f"{what}: {value} is no amount; expected a finite number")
    if abs(found) > MOST:
        raise InvalidValue(f"{what}: {str(value)[:40]} is more than any budget holds (at most 10¹²)")
    if found < 0 and not negative:
        raise InvalidValue(f"{what}: {str(value)[:40]} is below 0")
    return found.quantize(PLACES, ROUND_HALF_EVEN).normalize() + 0


def tokens(value: object, what: str = "tokens", *, negative: bool = False) -> int:
    """A number of tokens. Raises InvalidValue."""
    least = -MOST_TOKENS if negative else 0
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST_TOKENS:
        raise InvalidValue(f"{what}: expected a whole number from {least} to 10¹⁵, not {str(value)[:40]!r}")
    return value


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a budget stands in its present period. All amounts are exact, in `unit`.

    Attributes:
        level, action, factor: what holds now.
        limit: of this period.
        spent: the sum of the ledger's lines.
        reserved: what running attempts hold.
        starts_at, ends_at: of the period, whose name is `period` (2025-01 or 2025-01-31).
    """

    id: UUID
    name: str
    tenant_id: UUID | None
    unit: str
    level: Level
    action: BudgetAction
    factor: Decimal
    limit: Decimal
    spent: Decimal
    reserved: Decimal
    calls: int
    tokens_in: int
    tokens_out: int
    starts_at: datetime
    ends_at: datetime
    period: str

    @property
    def used(self) -> Decimal:
        """What is spent or reserved."""
        return self.spent + self.reserved

    @property
    def percent(self) -> Decimal:
        """`used` as a share of the limit, in percent with two decimals, rounded down; 100 where the limit is 0."""
        return percent_of(self.used, self.limit)

    def batch(self, size: int) -> int:
        """How many items of a batch of `size` may be done now. Raises InvalidValue."""
        return batch_of(size, self.factor)

    @property
    def text(self) -> str:
        """In words, for people."""
        who = self.name if self.tenant_id is None else f"{self.name} of the tenant"
        return f"budget {who} is at {self.level}: {self.percent} % of {plain(self.limit)} {self.unit} in {self.period}"


def percent_of(used: Decimal, limit: Decimal) -> Decimal:
    """A share in percent with two decimals, rounded down; 100 of a limit of 0."""
    if not limit:
        return Decimal(100)
    return (used * 10_000 // limit) / 100


def plain(value: Decimal) -> str:
    """An amount without trailing zeros and exponents."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def standing_of(figures: dict[str, Any]) -> Standing:
    """From what the database tells, with amounts as text or numbers."""
    return Standing(
        id=_uuid(figures["id"]),
        name=figures["name"],
        tenant_id=None if figures["tenant_id"] is None else _uuid(figures["tenant_id"]),
        unit=figures["unit"],
        level=tuple(Level)[int(figures["level"]) - 1],
        action=BudgetAction(figures["action"]),
        factor=Decimal(str(figures["factor"])),
        limit=Decimal(str(figures["limit_amount"])),
        spent=Decimal(str(figures["spent"])),
        reserved=Decimal(str(figures["reserved"])),
        calls=int(figures["calls"]),
        tokens_in=int(figures["tokens_in"]),
        tokens_out=int(figures["tokens_out"]),
        starts_at=_moment(figures["starts_at"]),
        ends_at=_moment(figures["ends_at"]),
        period=figures["label"],
    )


def _uuid(value: UUID | str) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)


def _moment(value: datetime | str) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value)
