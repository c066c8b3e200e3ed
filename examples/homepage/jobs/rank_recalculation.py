"""`RANK_RECALCULATION`: the ranks of all good sites, from votes and clicks that count less as time goes by."""

from __future__ import annotations

from examples.homepage.directory.rank import CLICK_WEIGHT, EPOCH, FAINT
from examples.homepage.directory.settings import from_environment
from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.statements import row
from postmill import Context, Idempotency, Mode


@handles(JobType.RANK_RECALCULATION, idempotency=Idempotency(Mode.ACTIVE, key="rank_recalculation"))
async def RankRecalculationHandler(ctx: Context) -> None:
    """One statement; of the sites it writes those whose rank has changed. The result: `sites`, and how many `changed`."""
    half_life = from_environment().decay.total_seconds()
    async with ctx.transaction() as transaction:
        transaction.result = await row(
            transaction,
            "recalculate_ranks",
            epoch=EPOCH,
            half_life=half_life,
            click_weight=CLICK_WEIGHT,
            faint=FAINT,
        )


[RankRecalculationScheduler] = schedules(JobType.RANK_RECALCULATION, RankRecalculationHandler)
