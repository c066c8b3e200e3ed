"""What the tests of AI tagging share: items without tags, the model's stand-in, the month's budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from prometheus_client import REGISTRY

from examples.homepage.tests.site import Row, Site
from examples.upstreams.anthropic.server import AnthropicServer

ITEM = """
    insert into feed_items (source_id, item_guid, title, url, description, content, content_hash, fetched_at)
    select %s, 'g' || n, 'Robots win the chip race ' || n, 'https://x.example/' || n, 'A startup sells software.',
           %s, md5(n::text), postmill.now() - interval '1 day' + n * interval '1 s'
      from generate_series((select count(*) + 1 from feed_items), (select count(*) from feed_items) + %s) n
"""


@dataclass
class Newsroom:
    """The application, and the model that it asks."""

    site: Site
    model: AnthropicServer

    async def write(self, items: int, content: str = "The company is in the market. " * 4) -> None:
        """So many items more."""
        source = await self.site.rows("select id from rss_sources limit 1")
        found = source[0]["id"] if source else await self.site.source()
        await self.site.conn.execute(ITEM.encode(), (found, content, items))

    async def run(self, later: str = "0 s", *, hurry: bool = False, **payload: object) -> list[ReadableSpan]:
        """A job that was just enqueued, and all else that is due so much later; the spans of the jobs of this type."""
        await self.site.enqueue("AI_TAGGING", **({"trigger": "manual"} | payload))
        spans = await self.site.run(later, hurry=hurry)
        return [span for span in spans if dict(span.attributes or {})["job.type"] == "AI_TAGGING"]

    async def limit(self, cents: int) -> None:
        """This month's limit."""
        now = await self.now()
        path = f"/admin/api/ai-usage/{now['month']}/budget"
        answer = await self.site.http.patch(path, json={"budgetLimitCents": cents})
        assert answer.status_code == 200, answer.text

    async def spend(self, percent: float) -> None:
        """Book so much of the limit, as an operator's correction does."""
        query = "update ai_usage_tracking set estimated_cost_cents = budget_limit_cents * %s / 100"
        await self.site.conn.execute(query.encode(), (percent,))

    async def now(self) -> Row:
        """What the admin API says of this month."""
        answer = await self.site.http.get("/admin/api/ai-usage")
        assert answer.status_code == 200, answer.text
        found: Row = answer.json()
        return found

    async def tagged(self) -> int:
        """How many items have tags."""
        row = await self.site.row(
            "select count(*) as n from feed_items where ai_tagged and ai_tags is not null"
        )
        return int(row["n"])

    async def results(self) -> list[Any]:
        """What the jobs of this type have ended with, the oldest first."""
        query = "select id from postmill.jobs where job_type = 'AI_TAGGING' order by id"
        return [(await self.site.job(row["id"]))["result"] for row in await self.site.rows(query)]


def metric(name: str, **labels: str) -> float:
    """A sample of this process's page."""
    return REGISTRY.get_sample_value(name, labels) or 0.0
