"""`SOCIAL_REFRESH`: posts of connected accounts every 30 minutes, by tokens that nobody gets to see (P5, P13)."""

from __future__ import annotations

from typing import Any

from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.outbound.services import ServiceError
from examples.homepage.outbound.several import each
from examples.homepage.resources import database
from examples.homepage.rss.telemetry import event
from examples.homepage.social import telemetry
from examples.homepage.social.network import social
from examples.homepage.social.refresh import refresh
from examples.homepage.social.renewal import Busy
from examples.homepage.social.vault import VaultError
from examples.homepage.statements import Row, row, rows
from postmill import Context


@handles(
    JobType.SOCIAL_REFRESH,
    timeout=300,
    action="Read last_error of social_accounts; ask whether the network is up, and whether SOCIAL_TOKEN_KEYS has every key",
)
async def SocialRefreshHandler(ctx: Context) -> dict[str, Any]:
    """Refreshes all accounts that are due; one that fails stops no other. A revoked one waits for its owner, and is no error."""
    pool = ctx.resource(database)
    async with pool.connection() as conn:
        due = await rows(conn, "due_accounts")
    told = dict.fromkeys(("refreshed", "reauthorize", "gone", "busy", "failed"), 0)

    async def one(account: Row) -> ServiceError | VaultError | None:
        outcome, failure = "failed", None
        try:
            outcome = await refresh(pool, ctx.resource(social), account["id"])
        except Busy:
            outcome = "busy"
        except (ServiceError, VaultError) as error:
            failure = error
            async with pool.connection() as conn:
                await row(conn, "account_failed", id=account["id"], error=str(error))
            ctx.log.warning("account_failed", account_id=str(account["id"]), error=str(error))
        finally:
            told[outcome] += 1
            telemetry.accounts.labels(outcome=outcome).inc()
        if outcome == "reauthorize":
            ctx.log.warning("account_reauthorize", account_id=str(account["id"]))
            event("account.reauthorize", {"account_id": str(account["id"])})
        return failure

    try:
        await each("accounts", due, one)
    finally:
        event("social.refreshed", dict(told))
    return told


[SocialRefresh] = schedules(JobType.SOCIAL_REFRESH, SocialRefreshHandler)
