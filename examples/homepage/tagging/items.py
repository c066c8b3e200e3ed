"""One item: it is asked about within a reservation of the budget, and its tags are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from examples.homepage.statements import Row
from examples.homepage.tagging import store, telemetry
from examples.homepage.tagging.errors import BadAnswer, ItemFailed, Refused, TooBusy
from examples.homepage.tagging.prompt import Article
from examples.homepage.tagging.service import AiTaggingService, Answer

if TYPE_CHECKING:
    from postmill.typing import Budget


@dataclass(frozen=True, slots=True)
class Items:
    """What a run needs for its items. `pool`: connections to the application's tables."""

    pool: Any
    service: AiTaggingService
    budget: Budget
    log: Any

    async def tag(self, item: Row) -> bool | None:
        """Whether it is tagged now; None where it was already, or is no more.

        Raises TooBusy, Refused; BudgetDeferred, BudgetExhausted: nothing was asked then.
        """
        async with self.pool.connection() as conn:
            if not await store.still_untagged(conn, item["id"]):
                return None
        prompt = self.service.prompt(Article(item["title"], item["description"], item["content"]))
        try:
            answer = await self._ask(prompt)
            tags = answer.tags
        except (BadAnswer, ItemFailed) as error:
            await self._failed(item, error)
            return False
        async with self.pool.connection() as conn:
            await store.update_ai_tags(conn, item["id"], tags)
        telemetry.items.labels(status="success").inc()
        told = {"item_id": str(item["id"]), **tags.model_dump(include={"topics", "sentiment", "categories"})}
        telemetry.event("item.tagged", told)
        return True

    async def _ask(self, prompt: str) -> Answer:
        async with self.budget.reserve(self.service.most(prompt)) as spend:
            try:
                answer = await self.service.ask(prompt)
            except (TooBusy, Refused):
                spend.release()
                raise
            except ItemFailed as error:
                if error.billed:
                    # Nobody says what it has cost: what was reserved is booked.
                    spend.settle()
                    telemetry.booked(spend.amount)
                else:
                    spend.release()
                raise
            cost = self.service.price(answer)
            spend.settle(cost, tokens_in=answer.tokens_in, tokens_out=answer.tokens_out)
            telemetry.booked(cost, answer.tokens_in, answer.tokens_out)
        return answer

    async def _failed(self, item: Row, error: BadAnswer | ItemFailed) -> None:
        bad = isinstance(error, BadAnswer)
        excerpt = error.excerpt if isinstance(error, BadAnswer) else ""
        async with self.pool.connection() as conn:
            # What was asked and not answered is no fault of the item's.
            await store.failed(conn, item["id"], f"{error}\n{excerpt}".strip(), counts=bad)
        telemetry.items.labels(status="failure").inc()
        telemetry.event("item.failed", {"item_id": str(item["id"]), "error": str(error)})
        tell = self.log.warning if bad else self.log.error
        tell("item_failed", item_id=str(item["id"]), error=str(error), excerpt=excerpt)
