"""What HTTP workers ask of budgets and are answered. No amounts of others are told."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import Field

from postmill.shapes.base import Answer, Model
from postmill.shapes.budgets import Amount, Counted, Level
from postmill.shapes.jobs import ID
from postmill.shapes.work import Fence


class ReserveBudget(Model):
    """What a call will cost at most."""

    fence: Fence
    budget: str = Field(min_length=1, max_length=64, description="Its name.", examples=["ai-tagging"])
    amount: Amount = Field(description="In the budget's unit; 0 only asks.", examples=["0.09"])
    reservation_id: UUID | None = Field(
        default=None,
        description="Of the worker's making: the same one, sent again, reserves once. Null: the server makes one.",
        examples=[ID],
    )
    started: bool = Field(
        default=True,
        description="False: nothing is called before `start`; until then a worker's death frees it in place of booking it.",
    )


class ReservationAnswer(Answer):
    """What became of a reservation, and how much of a batch may be done now."""

    reservation_id: UUID = Field(examples=[ID])
    status: Literal["granted", "deferred", "stopped", "spent", "estimated", "released"] = Field(
        description="`deferred`: do nothing now, complete the job; `stopped`: give up, with the code `budget_exhausted`.",
        examples=["granted"],
    )
    level: Level | None = Field(examples=["NORMAL"])
    factor: Decimal | None = Field(description="For batch sizes.", examples=["1"])
    ends_at: datetime | None = Field(description="When the budget's period ends.")


class HeldReservation(Model):
    """A reservation of a job that is held."""

    fence: Fence


class SettleReservation(HeldReservation):
    """What a call has cost."""

    amount: Amount | None = Field(
        default=None, description="In the budget's unit; null: what was reserved.", examples=["0.084"]
    )
    tokens_in: Counted = Field(default=0, examples=[1000])
    tokens_out: Counted = Field(default=0, examples=[200])
