"""What tagging costs the database: statements of an item, plans of each, and the ledger's lines; where the money went.

The design's bounds (below 50 ms of an item, below 100 ms of a check) hold as long as nothing is read from end to end.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from examples.homepage.statements import Connection, Row, text
from examples.homepage.statements import rows as run_rows
from examples.homepage.tagging import store
from examples.homepage.tests.ai.newsroom import Newsroom
from tests.support.databases import Database
from tests.support.plans import traced

TAGGED = """
    insert into feed_items (source_id, item_guid, title, url, content_hash, ai_tagged, ai_tags)
    select (select id from rss_sources limit 1), 'old' || n, 'x', 'https://x.example/' || n, md5(n::text), true, '{}'
      from generate_series(1, 3000) n
"""
LINES = """
    insert into postmill.budget_line (id, budget_id, starts_at, at, kind, amount, actor_type, actor_id, job_type)
    select postmill.new_id(), s.id, s.starts_at, s.starts_at + n * interval '1 s', 'spend', 0, 'user', 'ada', 'OTHER'
      from postmill.budget_standing('ai-tagging', null) s, generate_series(1, 3000) n
"""
GROWN = "analyze feed_items, postmill.budget_line, postmill.budget_balance"


async def test_statements_of_an_item(news: Newsroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """One SELECT to see that nobody was quicker, one UPDATE with the tags, one line of the ledger; batches cost the rest."""
    ran: Counter[str] = Counter()

    async def counted(conn: Connection, name: str, /, **values: Any) -> list[Row]:
        ran[name] += 1
        return await run_rows(conn, name, **values)

    async def first(conn: Connection, name: str, /, **values: Any) -> Row | None:
        return next(iter(await counted(conn, name, **values)), None)

    monkeypatch.setattr(store, "rows", counted)
    monkeypatch.setattr(store, "row", first)
    await news.write(45)
    await news.run()
    assert await news.tagged() == 45
    assert ran == {
        "untagged_count": 1, "take_untagged": 4, "still_untagged": 45, "update_ai_tags": 45, "batch_delay": 3, "speed_up": 3,
    }  # fmt: skip
    lines = await news.site.rows("select kind, count(*) as n from postmill.budget_line group by 1")
    assert lines == [{"kind": "spend", "n": 45}]


async def test_nothing_is_read_from_end_to_end(news: Newsroom, emptied: Database) -> None:
    """However many items are tagged, and however long the ledger is: a run's statements, and the check of the budget."""
    await news.write(40)
    await news.run()
    for grown in (TAGGED, LINES, GROWN):
        await news.site.conn.execute(grown.encode())
    await news.write(40)
    with emptied.connect() as conn:
        [[item]] = conn.execute("select id from feed_items where not ai_tagged limit 1").fetchall()
        acts: dict[str, dict[str, Any]] = {
            "untagged_count": {"most_failures": 5},
            "take_untagged": {"size": 20, "most_failures": 5},
            "still_untagged": {"id": item},
            "update_ai_tags": {"id": item, "tags": "{}"},
            "ai_usage_now": {},
        }
        for name, values in acts.items():
            with traced(conn) as plans:
                assert conn.execute(text(name), values).fetchall()
            assert (name, plans.sequential()) == (name, {})
            assert plans.work < 1500, f"{name}\n{plans}"
