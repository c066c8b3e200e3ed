"""The admin API, and the manual operations of section 10: its curl and its SQL as they stand there."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from uuid import UUID, uuid4

import pytest
import uvicorn
from pydantic import SecretStr

from examples.homepage import web
from examples.homepage.environment import SettingsMissing
from examples.homepage.settings import from_environment
from examples.homepage.tests.site import Site, serving
from tests.support.workers import until

FORCE_REFRESH = """
curl -X POST http://localhost:8080/admin/api/jobs/enqueue \\
  -H "Content-Type: application/json" \\
  -d '{
    "job_type": "RSS_FEED_REFRESH",
    "payload": {
      "source_id": "uuid-of-source",
      "force_refresh": true
    }
  }'
"""
SOURCES_DUE = """
SELECT id, name, url, last_fetched_at, refresh_interval_minutes
FROM rss_sources
WHERE is_active = true
  AND (last_fetched_at IS NULL
       OR last_fetched_at + (refresh_interval_minutes || ' minutes')::interval < NOW())
ORDER BY last_fetched_at NULLS FIRST;
"""
RESET = """
UPDATE rss_sources
SET error_count = 0,
    last_error_message = NULL,
    is_active = true,
    updated_at = NOW()
WHERE id = 'uuid-of-source';
"""


async def by_curl(command: str, app: object, home: Path) -> str:
    """Runs a command of curl's as it stands, the application behind its port 8080."""
    listener = socket.create_server(("127.0.0.1", 0))
    home.joinpath(".curlrc").write_text(
        f'silent\nconnect-to = "localhost:{web.PORT}:127.0.0.1:{listener.getsockname()[1]}"\n'
    )
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))  # type: ignore[arg-type]
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await until(lambda: server.started or task.done())
        program = await asyncio.create_subprocess_shell(
            command, env=os.environ | {"CURL_HOME": str(home)}, stdout=asyncio.subprocess.PIPE
        )
        said, _ = await program.communicate()
        return said.decode()
    finally:
        server.should_exit = True
        await task


async def test_the_manual_operations_of_the_design(site: Site, tmp_path: Path) -> None:
    """What is due; a forced refresh of what is not; a disabled source set back. All three stand in the guide, too."""
    guide = (Path(__file__).parents[3] / "docs/how-to/feeds-in-trouble.md").read_text(encoding="utf-8")
    assert all(text.strip() in guide for text in (FORCE_REFRESH, SOURCES_DUE, RESET))
    fresh = await site.source("/corpus/atom-1.0.xml", last_fetched_at="2100-01-01")
    late = await site.source("/corpus/atom-0.3.xml", last_fetched_at="2026-01-01")
    never = await site.source("/corpus/podcast.xml")
    off = await site.source(
        "/corpus/rss-0.91.xml", is_active=False, error_count=5, last_error_message="http_404"
    )
    assert [row["id"] for row in await site.rows(SOURCES_DUE)] == [never, late]
    app = web.create_app(from_environment())
    said = await by_curl(FORCE_REFRESH.replace("uuid-of-source", str(fresh)), app, tmp_path)
    assert '"job_type":"RSS_FEED_REFRESH","queue":"DEFAULT"' in said
    await site.run()
    assert (len(await site.items(fresh)), site.service.asked.total()) == (2, 1)
    assert len(await site.rows(SOURCES_DUE)) == 2
    [made] = await site.rows("select actor_type::text, actor_id, priority from postmill.any_job")
    assert made == {"actor_type": "user", "actor_id": "admin", "priority": 5}
    await site.conn.execute(RESET.replace("uuid-of-source", str(off)).encode())
    row = await site.standing(off)
    assert (row["is_active"], row["error_count"], row["last_error_message"]) == (True, 0, None)
    assert [row["id"] for row in await site.rows(SOURCES_DUE)][:2] in ([never, off], [off, never])


async def test_jobs_that_cannot_be(site: Site) -> None:
    refused = {
        "did you mean 'RSS_FEED_REFRESH'": {"job_type": "RSS_FEED_REFRSH"},
        "args.source_id": {"job_type": "RSS_FEED_REFRESH", "payload": {"source_id": "7"}},
        "known arguments: force_refresh": {"job_type": "RSS_FEED_REFRESH", "payload": {"force": True}},
        "payloads": {"job_type": "RSS_FEED_REFRESH", "payloads": {}},
    }
    for why, body in refused.items():
        answer = await site.http.post("/admin/api/jobs/enqueue", json=body)
        assert answer.status_code == 422
        assert why in answer.text
    assert await site.rows("select id from postmill.any_job") == []


async def test_changes_of_sources(site: Site) -> None:
    source, other = await site.source("/cached"), await site.source("/corpus/podcast.xml")
    await site.conn.execute("update rss_sources set etag = 'x', error_count = 3, last_error_message = 'm'")
    path = f"/admin/api/rss-sources/{source}"
    changed = (await site.http.patch(path, json={"name": " Daily ", "refresh_interval_minutes": 1440})).json()
    assert (changed["name"], changed["refresh_interval_minutes"], changed["error_count"]) == (
        "Daily",
        1440,
        3,
    )
    changed = (
        await site.http.patch(path, json={"url": "https://daily.example/feed", "dedup_by": "content_hash"})
    ).json()
    assert (changed["url"], changed["dedup_by"]) == ("https://daily.example/feed", "content_hash")
    assert (await site.standing(source))["etag"] is None, "of another address"
    listed = (await site.http.get("/admin/api/rss-sources")).json()
    assert [UUID(one["id"]) for one in listed] == [other, source]
    for body, status in (
        ({"refresh_interval_minutes": 14}, 422), ({"refresh_interval_minutes": 1441}, 422), ({}, 422),
        ({"error_count": 4}, 422), ({"url": "ftp://x/"}, 422), ({"url": None}, 422), ({"interval": 15}, 422),
        ({"url": f"{site.service.url}/corpus/podcast.xml"}, 409),
    ):  # fmt: skip
        assert (await site.http.patch(path, json=body)).status_code == status, body
    gone = await site.http.patch(f"/admin/api/rss-sources/{uuid4()}", json={"is_active": True})
    assert gone.status_code == 404


async def test_who_is_let_in(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a token whoever has it; without one this machine alone, by its own names."""
    path = "/admin/api/rss-sources"
    assert (await site.http.get(path, headers={"Host": "rebound.example"})).status_code == 400
    settings = from_environment().model_copy(update={"admin_token": SecretStr("s3cret")})
    async with serving(settings) as http:
        answers = [
            await http.get(path, headers={"Authorization": it})
            for it in ("", "Bearer s3cre", "Bearer s3cret")
        ]
        assert [answer.status_code for answer in answers] == [401, 401, 200]
        assert (await http.post("/admin/api/jobs/enqueue", json={"job_type": "x"})).status_code == 401
    monkeypatch.setattr("sys.argv", ["web", "--host", "0.0.0.0"])
    with pytest.raises(SystemExit):
        web.main()
    assert "set one" in capsys.readouterr().err
    with pytest.raises(SettingsMissing, match="HOMEPAGE_ALLOW_PRIVATE"):
        from_environment({"HOMEPAGE_DATABASE_URL": "x", "HOMEPAGE_ALLOW_PRIVATE": "everything"})
    with pytest.raises(SettingsMissing, match="HOMEPAGE_DATABASE_URL"):
        from_environment({})
