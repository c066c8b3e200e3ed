"""The troubleshooting guide of feeds: each of its symptoms, what it is diagnosed by, and what helps."""

from __future__ import annotations

from uuid import UUID

import pytest
from prometheus_client import REGISTRY

from examples.homepage import statements
from examples.homepage.tests.labour import labouring
from examples.homepage.tests.site import Site
from examples.upstreams.feeds.documents import item, rss


async def refresh(site: Site, source: UUID) -> None:
    await site.enqueue(source_id=source, force_refresh=True)
    await site.run()


async def test_a_source_was_disabled_since_the_site_blocks_our_user_agent(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await site.source("/corpus/podcast.xml", error_count=4)
    site.service.blocked = "VillageHomepage"
    await refresh(site, source)
    row = await site.standing(source)
    assert (row["is_active"], row["error_count"]) == (False, 5)
    assert row["last_error_message"] == "http_403: the server answered 403 Forbidden"
    monkeypatch.setenv("HOMEPAGE_USER_AGENT", "Mozilla/5.0 (compatible; Homepage)")
    change = {"is_active": True, "error_count": 0}
    assert (await site.http.patch(f"/admin/api/rss-sources/{source}", json=change)).status_code == 200
    await refresh(site, source)
    row = await site.standing(source)
    assert (row["is_active"], row["error_count"], len(await site.items(source))) == (True, 0, 2)


async def test_duplicates_since_the_guids_are_not_stable(site: Site) -> None:
    source = await site.source("/changing/new-guids")
    async with labouring(site.dsn) as labour:
        for force in (False, True):
            await site.enqueue(source_id=source, force_refresh=force)
        await labour.idle()
        found = await statements.rows(site.conn, "suspected_duplicates")
        assert [(row["source_id"], row["items"], len(set(row["guids"]))) for row in found] == [
            (source, 2, 2)
        ] * 5
        change = {"dedup_by": "content_hash"}
        assert (await site.http.patch(f"/admin/api/rss-sources/{source}", json=change)).status_code == 200
        await site.enqueue(source_id=source, force_refresh=True)
        await labour.idle()
    assert len(await site.items(source)) == 10, "and no more"


async def test_a_feed_of_too_many_entries_whose_items_wait_to_be_tagged(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long it took is on the worker's page by source; a limit of entries, and of bytes, bounds it. What is new is found by
    AI tagging, since it is marked."""
    source = await site.source(site.page("/many", rss(map(item, range(60)))))
    monkeypatch.setenv("RSS_MAX_ENTRIES", "40")
    await refresh(site, source)
    [untagged] = await site.rows("SELECT COUNT(*) FROM feed_items WHERE ai_tagged = false;")
    assert (len(await site.items(source)), untagged) == (40, {"count": 40})
    labels = {"source_id": str(source), "result": "success", "le": "300.0"}
    assert REGISTRY.get_sample_value("rss_fetch_duration_bucket", labels) == 1
    monkeypatch.setenv("RSS_MAX_BYTES", "4096")
    await refresh(site, source)
    assert (await site.standing(source))["last_error_message"] == "too_large: more than 4,096 bytes"
