"""Section 13's curls and SQL as they stand there; usage of months, limits, the emergency reset."""

from __future__ import annotations

import asyncio
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest
import uvicorn
from pydantic import SecretStr

from examples.homepage import web
from examples.homepage.settings import from_environment
from examples.homepage.tests.ai.newsroom import Newsroom
from examples.homepage.tests.test_admin import by_curl
from examples.homepage.tests.test_tls import certificate
from tests.support.workers import until

STATUS = """
curl -H "Authorization: Bearer $ADMIN_TOKEN" \\
  https://homepage.villagecompute.com/admin/api/ai-usage
"""
HISTORY = """
curl -H "Authorization: Bearer $ADMIN_TOKEN" \\
  https://homepage.villagecompute.com/admin/api/ai-usage/history?months=12
"""
ADJUST = """
curl -X PATCH \\
  -H "Authorization: Bearer $ADMIN_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"budgetLimitCents": 75000}' \\
  https://homepage.villagecompute.com/admin/api/ai-usage/2025-01/budget
"""
TRIGGER = """
curl -X POST http://localhost:8080/admin/api/jobs/enqueue \\
  -H "Content-Type: application/json" \\
  -d '{
    "job_type": "AI_TAGGING",
    "payload": {
      "trigger": "manual"
    }
  }'
"""
UNTAGGED = "SELECT COUNT(*) FROM feed_items WHERE ai_tagged = false;"
RESET = """
UPDATE ai_usage_tracking
SET estimated_cost_cents = 0,
    total_requests = 0,
    total_tokens_input = 0,
    total_tokens_output = 0,
    updated_at = NOW()
WHERE month = DATE_TRUNC('month', CURRENT_DATE)
  AND provider = 'anthropic';
"""
DISTRIBUTION = """
SELECT
  jsonb_array_elements_text(ai_tags->'categories') AS category,
  COUNT(*) AS count
FROM feed_items
WHERE ai_tagged = true AND ai_tags IS NOT NULL
GROUP BY category
ORDER BY count DESC;
"""


async def by_https(commands: list[str], app: object, home: Path) -> list[str]:
    """Runs commands of curl's as they stand, the application behind the site's name."""
    chain, key = certificate("homepage.villagecompute.com", home)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        name = "homepage.villagecompute.com:443"
        home.joinpath(".curlrc").write_text(
            f'silent\nconnect-to = "{name}:127.0.0.1:{port}"\ncacert = "{chain}"\n'
        )
        config = uvicorn.Config(app, log_level="warning", ssl_certfile=chain, ssl_keyfile=key)  # type: ignore[arg-type]
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        environment = os.environ | {"CURL_HOME": str(home), "ADMIN_TOKEN": "s3cret"}
        said = []
        try:
            await until(lambda: server.started or task.done())
            for command in commands:
                program = await asyncio.create_subprocess_shell(
                    command, env=environment, stdout=asyncio.subprocess.PIPE
                )
                said.append((await program.communicate())[0].decode())
        finally:
            server.should_exit = True
            await task
    return said


async def test_the_curls_of_monitoring(news: Newsroom, tmp_path: Path) -> None:
    """On a clock that is in the month of the design; the limit counts at once, and for that month alone."""
    back = datetime.now(UTC) - datetime(2025, 1, 15, 12, tzinfo=UTC)
    settings = from_environment().model_copy(
        update={
            "admin_token": SecretStr("s3cret"),
            "database_url": SecretStr(news.site.later(f"-{int(back.total_seconds())} s")),
        }
    )
    status, _, adjusted, history = await by_https(
        [STATUS, HISTORY, ADJUST, HISTORY], web.create_app(settings), tmp_path
    )
    assert '"month":"2025-01"' in status
    assert '"budgetAction":"NORMAL"' in status
    assert '"budgetLimitCents":50000.0' in status
    assert '"budgetLimitCents":75000.0' in adjusted
    assert history == f"[{adjusted}]"
    assert (await news.now())["budgetLimitCents"] == 50_000


async def test_the_manual_operations(news: Newsroom, tmp_path: Path) -> None:
    await news.write(3)
    assert await news.site.rows(UNTAGGED) == [{"count": 3}]
    said = await by_curl(TRIGGER, web.create_app(from_environment()), tmp_path)
    assert '"job_type":"AI_TAGGING","queue":"BULK"' in said
    await news.site.run()
    assert await news.site.rows(UNTAGGED) == [{"count": 0}]
    found = await news.site.rows(DISTRIBUTION)
    assert {row["category"]: row["count"] for row in found} == {"Technology": 3, "Business": 3, "Sports": 3}


async def test_the_emergency_reset_writes_a_correcting_line(news: Newsroom) -> None:
    """Nothing is rewritten: the ledger's sum is none, the count begins anew, and HARD_STOP is over."""
    await news.write(2)
    await news.run()
    await news.limit(1)
    before = await news.now()
    assert (before["totalRequests"], before["budgetAction"]) == (
        2,
        "HARD_STOP" if before["percentUsed"] >= 100 else "NORMAL",
    )
    await news.site.conn.execute(RESET.encode())
    after = await news.now()
    figures = ("estimatedCostCents", "totalRequests", "totalTokensInput", "totalTokensOutput")
    assert [after[name] for name in figures] == [0, 0, 0, 0]
    assert after["budgetAction"] == "NORMAL"
    lines = await news.site.rows(
        "select kind, amount * 100 as cents, actor_type from postmill.budget_line order by id"
    )
    assert [line["kind"] for line in lines] == ["spend", "spend", "correct"]
    assert float(lines[-1]["cents"]) == pytest.approx(-before["estimatedCostCents"])
    audited = await news.site.rows("select action from postmill.audit_log where action = 'budgets.correct'")
    assert len(audited) == 1
    await news.limit(50_000)
    await news.write(1)
    await news.run()
    assert (await news.now())["totalRequests"] == 1
    with pytest.raises(Exception, match="month and provider stay"):
        await news.site.conn.execute(b"update ai_usage_tracking set provider = 'x'")


async def test_what_cannot_be_asked(news: Newsroom) -> None:
    path = "/admin/api/ai-usage"
    for month, body, status in (
        ("2025-01", {"budgetLimitCents": 1}, 409), ("2025-13", {"budgetLimitCents": 1}, 422),
        ("2099-01", {"budgetLimitCents": 1}, 404), ("2026-11", {"budgetLimitCents": -1}, 422),
        ("2026-11", {"limit": 1}, 422), ("2026-11", {}, 422),
    ):  # fmt: skip
        answer = await news.site.http.patch(f"{path}/{month}/budget", json=body)
        assert answer.status_code == status, answer.text
    assert (await news.site.http.get(f"{path}/history?months=0")).status_code == 422
