"""Requests that are made to hurt: each has an answer that says what is wrong."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from examples.homepage.tests.site import Site

WILD = [
    "NaN", "1e400", "null", "9" * 400, r'"\u0000"', r'"\ud800"', r'"a\nb"', "[" * 5000, '{"self": 1}', r'{"\ud800": 1}',
    '"0001-01-01T00:00:00+14:00"', '"9999-12-31T23:59:59-14:00"', '"' + "x" * 3000 + '"',
    '"https://a.example/' + "é漢ß" * 600 + '"',
    r'{"message_id": "\u0000"}', r'{"\u0000": 1}',
]  # fmt: skip


async def test_no_body_is_a_fault_of_ours(site: Site) -> None:
    source, good = await site.source(), {"url": "https://a.example/", "title": "t"}
    listed = (await site.http.post("/good-sites", json=good)).json()["id"]
    visitor = str(uuid4())
    fields: dict[tuple[str, str], dict[str, Any]] = {
        ("POST", "/good-sites"): good,
        ("POST", f"/good-sites/{listed}/votes"): {"visitor": visitor},
        ("POST", "/click"): {"site_id": listed, "consent": True, "visitor": visitor, "clicked_at": None},
        ("PATCH", f"/admin/api/rss-sources/{source}"): {
            "name": "n",
            "url": "https://a.example/",
            "category": "c",
        },
        ("POST", "/admin/api/jobs/enqueue"): {
            "job_type": "MESSAGE_RELAY",
            "payload": {"message_id": visitor},
        },
        ("PATCH", "/admin/api/ai-usage/2026-11/budget"): {"budgetLimitCents": 1},
    }
    for (method, path), whole in fields.items():
        for name in whole:
            rest = "".join(
                f', "{other}": {json.dumps(value)}' for other, value in whole.items() if other != name
            )
            for wild in WILD:
                content = f'{{"{name}": {wild}{rest}}}'.encode()
                headers = {"Content-Type": "application/json"}
                answer = await site.http.request(method, path, headers=headers, content=content)
                assert answer.status_code < 500, (path, name, wild[:40])
                assert answer.is_success or answer.json()["detail"]


@pytest.mark.parametrize("month", ["0000-01", "٢٠٢٦-01", "2026-13", "2026-01%00"])
async def test_a_month_that_is_none(site: Site, month: str) -> None:
    answer = await site.http.patch(f"/admin/api/ai-usage/{month}/budget", json={"budgetLimitCents": 1})
    assert answer.status_code == 422


async def test_a_body_without_end_is_not_read_to_it(site: Site) -> None:
    read = 0

    async def flood() -> Any:
        nonlocal read
        for _ in range(100):
            read += 1
            yield b" " * 256 * 1024

    headers = {"Content-Type": "application/json"}
    answer = await site.http.post("/good-sites", headers=headers, content=flood())
    assert (answer.status_code, read < 10) == (413, True)
    told = headers | {"Content-Length": str(10**9)}
    assert (await site.http.post("/good-sites", headers=told, content=b"")).status_code == 413


async def test_a_restart_of_the_server_is_not_seen(site: Site) -> None:
    """All connections of the pool are dead; the next request has a live one, at once."""
    pool = pool_of(site)
    for conn in [await pool.getconn() for _ in range(pool.max_size)]:
        await pool.putconn(conn)
    dead = "select count(pg_terminate_backend(pid, 5000)) as n from pg_stat_activity where application_name = 'homepage'"
    assert (await site.row(f"{dead} and datname = current_database()"))["n"] == pool.max_size
    assert (await site.http.get("/good-sites")).status_code == 200
    assert pool.get_stats()["requests_wait_ms"] < 2000


def pool_of(site: Site) -> Any:
    """That of the API."""
    transport = site.http._transport
    assert isinstance(transport, httpx.ASGITransport)
    return transport.app.state.pool  # type: ignore[attr-defined]


async def test_a_database_that_is_away_is_said(site: Site) -> None:
    """503 and when to come again, not a fault of the application's."""
    pool = pool_of(site)
    pool.timeout = 0.05
    held = [await pool.getconn() for _ in range(pool.max_size)]
    try:
        answer = await site.http.get("/good-sites")
    finally:
        for conn in held:
            await pool.putconn(conn)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert (await site.http.get("/good-sites")).status_code == 200
