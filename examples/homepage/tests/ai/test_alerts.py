"""Section 13's e-mail alerts, by real SMTP to ops@: 75 %, 80 % (section 11), 90 % and 100 %, and after a correction anew."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest_asyncio

from examples.homepage.statements import FOLDER
from examples.homepage.tests.ai.newsroom import Newsroom
from examples.homepage.tests.ai.test_admin import RESET
from examples.homepage.tests.labour import ENV
from examples.upstreams.alerts.mailbox import Mailbox
from examples.upstreams.anthropic.replies import Reply
from postmill.domain.settings_load import load
from tests.alerts.world import escalating
from tests.support.eventually import aeventually

# What a worker's round of budgets does every three seconds.
TELL = "select status, percent::int as percent, severity from postmill.tell_budget_alerts(100)"
INCIDENTS = "postmill.incident, postmill.incident_part, postmill.incident_job, postmill.incident_over, postmill.notification"
OPEN = "select facts->>'percent' as percent, severity from postmill.incident where kind = 'budget' and resolved_at is null"
LEVELS = ((75, "info"), (80, "info"), (90, "warning"), (100, "critical"))


@dataclass
class Ops:
    """Who reads ops@'s mail."""

    news: Newsroom
    mailbox: Mailbox
    server: str

    @asynccontextmanager
    async def awake(self) -> AsyncIterator[None]:
        """A worker that escalates as homepage.yaml says."""
        settings = load(
            FOLDER / "homepage.yaml", env=ENV, overrides={"escalation": {"smtp_url": self.server}}
        )
        async with escalating(self.news.site.dsn, settings):
            yield

    async def told(self) -> list[tuple[str, int, str]]:
        """One round: what it raised or resolved."""
        return [tuple(one.values()) for one in await self.news.site.rows(TELL)]

    async def mail(self, number: int) -> list[str]:
        """The subjects of the first so many mails, once they are there; each must be to ops@ alone."""
        await aeventually(lambda: len(self.mailbox.messages) >= number)
        assert len(self.mailbox.messages) == number
        assert {tuple(to) for to in self.mailbox.recipients} == {("ops@villagecompute.com",)}
        assert {message["To"] for message in self.mailbox.messages} == {"ops@villagecompute.com"}
        return [message["Subject"] for message in self.mailbox.messages]


@pytest_asyncio.fixture
async def ops(news: Newsroom) -> AsyncIterator[Ops]:
    """The mailbox of ops@, as a mail server has it; nobody was told of anything before."""
    await news.site.conn.execute(f"truncate {INCIDENTS}".encode())
    mailbox = Mailbox()
    yield Ops(news, mailbox, mailbox.start())
    mailbox.stop()


async def test_each_threshold_is_mailed_once(ops: Ops) -> None:
    """INFO, INFO, WARNING, CRITICAL, each by itself as it is crossed; what stays above it is not told again."""
    month = (await ops.news.now())["month"]
    async with ops.awake():
        for number, (percent, severity) in enumerate(LEVELS, 1):
            await ops.news.spend(percent - 0.01)
            assert await ops.told() == []
            await ops.news.spend(percent)
            assert await ops.told() == [("raised", percent, severity)]
            subjects = await ops.mail(number)
            assert (
                subjects[-1] == f"[{severity}] budget ai-tagging: {percent} % of 500 USD is used in {month}"
            )
        await ops.news.spend(130)
        assert await ops.told() == []
    assert (await ops.news.now())["budgetAction"] == "HARD_STOP"
    [mail] = ops.mailbox.messages[3:]
    assert "[critical]" in mail.get_content()


async def test_a_run_that_costs_more_than_the_limit(ops: Ops) -> None:
    """One answer of a model that counts more than was asked for: all four at once, and the job of the next hour is given up."""
    await ops.news.write(2)
    await ops.news.limit(10)
    ops.news.model.judge = lambda article: Reply(usage=(1000, 100_000))
    await ops.news.run()
    assert await ops.news.tagged() == 1
    await ops.told()
    told = {(int(one["percent"]), one["severity"]) for one in await ops.news.site.rows(OPEN)}
    assert told == set(LEVELS)
    usage = await ops.news.now()
    assert (usage["budgetAction"], usage["estimatedCostCents"]) == ("HARD_STOP", 150.3)


async def test_a_correction_takes_alerts_back_and_arms_them_anew(ops: Ops) -> None:
    """Down to a smaller level, and the emergency reset: what was told is over; a second 75 % of the month is told, too."""
    month = (await ops.news.now())["month"]
    tail = f"budget ai-tagging: 75 % of 500 USD is used in {month}"
    async with ops.awake():
        await ops.news.spend(76)
        assert await ops.told() == [("raised", 75, "info")]
        await ops.mail(1)
        await ops.news.spend(75)
        assert await ops.told() == []
        await ops.news.site.conn.execute(RESET.encode())
        assert await ops.told() == [("resolved", 75, "info")]
        await ops.mail(2)
        await ops.news.spend(75)
        assert await ops.told() == [("raised", 75, "info")]
        subjects = await ops.mail(3)
    assert subjects == [f"[info] {tail}", f"[info] over: {tail}", f"[info] again: {tail}"]
