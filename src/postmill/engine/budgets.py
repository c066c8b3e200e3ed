"""`ctx.budget(name)`: what a handler knows of a budget, and how it spends from it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from decimal import Decimal
from typing import TYPE_CHECKING

from postmill.domain.budget import BudgetAction, Level, Standing, amount, plain
from postmill.domain.errors import LeaseLost, UnknownBudget
from postmill.domain.signals import BudgetDeferred, BudgetExhausted
from postmill.engine.asking import Asking
from postmill.store.spending import Reserved, Spender, budget_names, budget_standing

if TYPE_CHECKING:
    from postmill.engine.spend import Reservation


class Budget:
    """A budget of a running job: the platform's of that name, its tenant's own, or both, of which the fuller one counts.

    `budget = await ctx.budget("ai-tagging")` in a coroutine, `budget = ctx.budget("ai-tagging")` in a function. What it
    tells is as of the last look; every reservation and its end are looks, too.
    """

    __slots__ = ("_asking", "_standing", "name", "spender")

    def __init__(self, name: str, spender: Spender, asking: Asking) -> None:
        self.name = name
        self.spender = spender
        self._asking = asking
        self._standing: Standing | None = None

    def __await__(self) -> Generator[None, None, Budget]:
        yield from self.alook().__await__()
        return self

    def look(self) -> Standing:
        """Where the budget stands now.

        Raises:
            UnknownBudget: there is none of that name that this job's tenant may spend from.
        """
        found = self._asking.ask(
            budget_standing(self.name, self.spender.tenant_id, schema=self._asking.schema)
        )
        return self._seen(found[0]) if found else self.unknown()

    async def alook(self) -> Standing:
        """As `look`, awaited."""
        asked = budget_standing(self.name, self.spender.tenant_id, schema=self._asking.schema)
        found = await self._asking.aask(asked)
        return self._seen(found[0]) if found else await self.aunknown()

    @property
    def standing(self) -> Standing:
        """As of the last look; without one it looks first.

        Raises:
            RuntimeError: in a coroutine that has not looked yet, which this would block.
        """
        if self._standing is not None:
            return self._standing
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self.look()
        raise RuntimeError(
            f"nothing is known of the budget yet: write `budget = await ctx.budget({self.name!r})` in a coroutine"
        )

    @property
    def level(self) -> Level:
        """NORMAL, REDUCE, QUEUE or HARD_STOP."""
        return self.standing.level

    @property
    def percent(self) -> Decimal:
        """How much of it is spent or reserved, in percent."""
        return self.standing.percent

    def batch(self, size: int) -> int:
        """How many items of a batch of `size` may be done at this level: by default all, half, none, none."""
        return self.standing.batch(size)

    def check(self) -> Standing:
        """Looks, and ends the run where the level wants that.

        Raises:
            BudgetDeferred: nothing may run now; let it pass, and the job ends as succeeded with nothing done.
            BudgetExhausted: the budget is used up; let it pass, and the job is given up without a retry.
            UnknownBudget: there is none of that name.
        """
        return permitted(self.look())

    async def acheck(self) -> Standing:
        """As `check`, awaited."""
        return permitted(await self.alook())

    def reserve(self, cost: Decimal | float | str, *, started: bool = True) -> Reservation:
        """Reserves what a call will cost at most, for the length of a block: `async with` or `with`.

            async with budget.reserve(0.09) as spend:
                answer = await call()
                spend.settle(answer.cost, tokens_in=answer.prompt_tokens, tokens_out=answer.output_tokens)

        A block that ends without `settle` books what was reserved, whether it raised or not: the call may have been made.
        `spend.release()` says that it was not.

        Args:
            cost: in the budget's unit; 0 or more, exact to 12 decimals.
            started: False: nothing is called before `spend.start()` (`await spend.astart()`); until then a worker's death
                frees the reservation in place of booking it.

        Raises:
            InvalidValue: at once: the cost is no amount.
            BudgetDeferred, BudgetExhausted, UnknownBudget: on entry, as `check` does; deferred also where the cost does
                not fit what is left, exhausted where it is more than the whole limit.
            LeaseLost: on entry: the job is no longer this worker's.
        """
        from postmill.engine.spend import Reservation

        return Reservation(self, self._asking, amount(cost, "reserve"), started=started)

    def granted(self, answer: Reserved, cost: Decimal) -> None:
        """What an answer to a reservation of so much means."""
        if answer.standing is not None:
            self._seen(answer.standing)
        if answer.status == "lost":
            raise LeaseLost(f"job {self.spender.job_id} is no longer this worker's: nothing was reserved")
        if answer.status == "ended":
            raise LeaseLost("this reservation is over; make a new one")
        if answer.status in ("deferred", "stopped"):
            assert answer.standing is not None
            text = _text(answer.standing)
            if answer.standing.action is BudgetAction.RUN:
                text = f"{plain(cost)} {answer.standing.unit} do not fit what is left: {text}"
            raise BudgetDeferred(text) if answer.status == "deferred" else BudgetExhausted(text)

    def _seen(self, standing: Standing) -> Standing:
        self._standing = standing
        return standing

    def seen(self, standing: Standing | None) -> None:
        """What somebody has heard of it."""
        if standing is not None:
            self._standing = standing

    def unknown(self) -> Standing:
        """Raises UnknownBudget with what there is."""
        asked = budget_names(self.spender.tenant_id, schema=self._asking.schema)
        raise UnknownBudget(self.name, self._asking.ask(asked))

    async def aunknown(self) -> Standing:
        """As `unknown`, awaited."""
        asked = budget_names(self.spender.tenant_id, schema=self._asking.schema)
        raise UnknownBudget(self.name, await self._asking.aask(asked))


def permitted(standing: Standing) -> Standing:
    """Raises BudgetDeferred, BudgetExhausted: its level lets nothing run."""
    if standing.action is BudgetAction.DEFER:
        raise BudgetDeferred(_text(standing))
    if standing.action is BudgetAction.STOP:
        raise BudgetExhausted(_text(standing))
    return standing


def _text(standing: Standing) -> str:
    return f"{standing.text}; it ends at {standing.ends_at.isoformat(timespec='minutes')}"
