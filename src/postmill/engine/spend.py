"""One reservation of a running job, as a block around the call that costs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import psycopg

from postmill.domain.budget import amount, plain, tokens
from postmill.domain.errors import LeaseLost
from postmill.engine.asking import Asking
from postmill.store.spending import Ended, Reserved, end_reservation, reserve_budget, start_budget
from postmill.store.statement import Statement

if TYPE_CHECKING:
    from postmill.engine.budgets import Budget

log = logging.getLogger("postmill.budget")


class Reservation:
    """Held from the entry of its block to the end of it; see `Budget.reserve`.

    Attributes:
        id: by which the database knows it, so that nothing is booked twice.
        amount: what is reserved.
    """

    __slots__ = ("_asking", "_budget", "_released", "_settled", "_started", "amount", "id")

    def __init__(self, budget: Budget, asking: Asking, cost: Decimal, *, started: bool) -> None:
        self.id: UUID = uuid4()
        self.amount = cost
        self._budget = budget
        self._asking = asking
        self._started = started
        self._settled: tuple[Decimal, int, int] | None = None
        self._released = False

    def settle(
        self, actual: Decimal | float | str | None = None, *, tokens_in: int = 0, tokens_out: int = 0
    ) -> None:
        """What the call has really cost, in the budget's unit; None: what was reserved. Booked at the end of the block.

        Raises:
            InvalidValue: no amount, or no number of tokens.
            RuntimeError: it was settled or released already: one reservation is one call.
        """
        if self._settled is not None or self._released:
            raise RuntimeError("this reservation is settled or released already; reserve once for each call")
        cost = self.amount if actual is None else amount(actual, "settle")
        self._settled = cost, tokens(tokens_in, "tokens_in"), tokens(tokens_out, "tokens_out")

    def release(self) -> None:
        """Nothing was called, and nothing spent: the reservation is freed at the end of the block.

        Raises:
            RuntimeError: it was settled already.
        """
        if self._settled is not None:
            raise RuntimeError("this reservation is settled already")
        self._released = True

    def start(self) -> None:
        """The call begins now, of a reservation made with `started=False`.

        Raises:
            LeaseLost: the job is no longer this worker's: do not call.
        """
        self._begun(self._started or self._asking.ask(self._start()))

    async def astart(self) -> None:
        """As `start`, awaited."""
        self._begun(self._started or await self._asking.aask(self._start()))

    def __enter__(self) -> Reservation:
        try:
            answer = self._asking.ask(self._reserve())
        except BaseException:
            with contextlib.suppress(psycopg.Error, OSError):
                self._asking.ask_once(self._end("release"))
            raise
        if answer.status == "unknown":
            self._budget.unknown()
        self._budget.granted(answer, self.amount)
        return self

    def __exit__(self, *raised: Any) -> None:
        try:
            self._ended(self._asking.ask(self._last()))
        except (psycopg.Error, OSError) as error:
            self._untold(error)

    async def __aenter__(self) -> Reservation:
        try:
            answer = await self._asking.aask(self._reserve())
        except BaseException:
            # It may be there, and the call will not be made.
            with contextlib.suppress(psycopg.Error, OSError, TimeoutError):
                await asyncio.wait_for(self._asking.aask_once(self._end("release")), 2.0)
            raise
        if answer.status == "unknown":
            await self._budget.aunknown()
        self._budget.granted(answer, self.amount)
        return self

    async def __aexit__(self, *raised: Any) -> None:
        try:
            self._ended(await self._asking.aask(self._last()))
        except (psycopg.Error, OSError) as error:
            self._untold(error)

    def _reserve(self) -> Statement[Reserved]:
        budget, schema = self._budget, self._asking.schema
        return reserve_budget(
            self.id, budget.name, self.amount, budget.spender, started=self._started, schema=schema
        )

    def _start(self) -> Statement[bool]:
        return start_budget(self.id, self._budget.spender.fence, schema=self._asking.schema)

    def _begun(self, started: bool) -> None:
        if not started:
            raise LeaseLost(f"job {self._budget.spender.job_id} is no longer this worker's: do not call")
        self._started = True

    def _last(self) -> Statement[Ended]:
        if self._settled is not None:
            return self._end("settle")
        return self._end("release" if self._released or not self._started else "estimate")

    def _end(self, verb: Any) -> Statement[Ended]:
        cost, inwards, outwards = self._settled or (None, 0, 0)
        fence, schema = self._budget.spender.fence, self._asking.schema
        return end_reservation(self.id, fence, verb, cost, inwards, outwards, schema=schema)

    def _ended(self, ended: Ended) -> None:
        self._budget.seen(ended.standing)
        if ended.booked and ended.unit is not None:
            self._asking.spent(ended.unit, float(ended.booked))

    def _untold(self, error: BaseException) -> None:
        """The call was made, so its job goes on; what was reserved is booked when the job is over."""
        cost = plain(self._settled[0]) if self._settled else "nobody told"
        log.warning(
            "budget %s: a call that cost %s could not be settled and is booked as %s: %s",
            self._budget.name, cost, plain(self.amount), error,
        )  # fmt: skip
