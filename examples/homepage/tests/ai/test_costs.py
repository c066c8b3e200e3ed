"""Section 11: what AI tagging costs, by job type and by who caused it."""

from __future__ import annotations

import pytest

from examples.homepage.tests.ai.newsroom import Newsroom
from postmill import NewJob, aenqueue


async def test_costs_by_type_and_by_user(news: Newsroom) -> None:
    """Those of a month are its usage, however they are split."""
    await news.write(2)
    await news.run()
    await news.write(1)
    await aenqueue(news.site.conn, NewJob.of("AI_TAGGING", {}).using(actor_type="user", actor_id="ada"))
    await news.site.run()
    usage = await news.now()
    path = f"/admin/api/ai-usage/{usage['month']}/costs"
    [whole] = (await news.site.http.get(path)).json()
    assert whole["name"] == "AI_TAGGING"
    assert whole["costCents"] == pytest.approx(usage["estimatedCostCents"])
    assert (whole["requests"], whole["tokensInput"]) == (3, usage["totalTokensInput"])
    users = (await news.site.http.get(f"{path}?by=actor")).json()
    assert [(user["name"], user["requests"]) for user in users] == [("user:admin", 2), ("user:ada", 1)]
    assert sum(user["costCents"] for user in users) == pytest.approx(usage["estimatedCostCents"])
    assert (await news.site.http.get("/admin/api/ai-usage/2001-01/costs")).json() == []
    for bad in (f"{path}?by=tenant_of", "/admin/api/ai-usage/2001-13/costs"):
        assert (await news.site.http.get(bad)).status_code == 422
