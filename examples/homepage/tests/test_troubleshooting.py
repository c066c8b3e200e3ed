"""The guide docs/how-to/feeds-in-trouble.md: each symptom, what it is diagnosed by, what helps, as it stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from prometheus_client import REGISTRY

from examples.homepage import statements
from examples.homepage.tests.labour import labouring
from examples.homepage.tests.site import Site
from examples.upstreams.feeds.documents import item, rss

GUIDE = (Path(__file__).parents[3] / "docs/how-to/feeds-in-trouble.md").read_text(encoding="utf-8")
RSS = Path(__file__).parents[1] / "rss"


def shown(beginning: str) -> str:
    """The block of the guide that begins so."""
    [found] = re.findall(rf"^```\w+\n({re.escape(beginning)}.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    return str(found)


def body(command: str) -> Any:
    """What a curl of the guide sends."""
    [found] = re.findall(r"-d '(.*?)'", command, re.DOTALL)
    return json.loads(found)


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
    change = body(shown("curl -X PATCH http://localhost:8080/admin/api/rss-sources/uuid-of-source"))
    assert (await site.http.patch(f"/admin/api/rss-sources/{source}", json=change)).status_code == 200
    await refresh(site, source)
    row = await site.standing(source)
    assert (row["is_active"], row["error_count"], len(await site.items(source))) == (True, 0, 2)


def test_the_errors_that_the_guide_explains_are_those_there_are() -> None:
    table = GUIDE.partition("| it begins with |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if line)))
    code = "".join(file.read_text(encoding="utf-8") for file in RSS.glob("*.py"))
    assert [name for name in named if not name.startswith("http_") and f'"{name}"' not in code] == []


async def test_all_were_disabled_since_our_own_network_was_away(site: Site) -> None:
    """Until it is back; then one statement brings them back, and nobody else."""
    nowhere = {"url": "http://127.0.0.1:9/feed", "error_count": 4}
    ours, gone = [await site.source("/ours", **nowhere), await site.source("/status/410", error_count=4)]
    await refresh(site, ours)
    await refresh(site, gone)
    assert {
        (row["is_active"], row["error_count"]) for row in await site.rows("select * from rss_sources")
    } == {(False, 5)}
    await site.conn.execute(
        shown("UPDATE rss_sources\nSET error_count = 0, last_error_message = NULL, is_active").encode()
    )
    rows = {row["id"]: row["is_active"] for row in await site.rows("select * from rss_sources")}
    assert rows == {ours: True, gone: False}


async def test_duplicates_since_the_guids_are_not_stable(site: Site) -> None:
    source = await site.source("/changing/new-guids")
    async with labouring(site.dsn) as labour:
        for force in (False, True):
            await site.enqueue(source_id=source, force_refresh=force)
        await labour.idle()
        assert "`sql/suspected_duplicates.sql`" in GUIDE
        found = await statements.rows(site.conn, "suspected_duplicates")
        assert [(row["source_id"], row["items"], len(set(row["guids"]))) for row in found] == [
            (source, 2, 2)
        ] * 5
        change = json.loads(re.findall(r"`PATCH` with `(.*?)`", GUIDE)[1])
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
    [untagged] = await site.rows(shown("SELECT COUNT(*) FROM feed_items"))
    assert (len(await site.items(source)), untagged) == (40, {"count": 40})
    assert "rss_fetch_duration_bucket{" in shown("histogram_quantile")
    labels = {"source_id": str(source), "result": "success", "le": "300.0"}
    assert REGISTRY.get_sample_value("rss_fetch_duration_bucket", labels) == 1
    monkeypatch.setenv("RSS_MAX_BYTES", "4096")
    await refresh(site, source)
    assert (await site.standing(source))["last_error_message"] == "too_large: more than 4,096 bytes"
