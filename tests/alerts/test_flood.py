"""Case 119: many escalations at once, a service that takes one a second, a worker that is restarted in the middle."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection

from examples.upstreams.alerts import judges
from examples.upstreams.alerts.service import AlertService, Mood, texts
from tests.alerts.world import escalating, pagerduty, serving, settings_of, slack, value
from tests.support.eventually import aeventually

PAGED = 5


SUMMARY, SINGLY = 25, 10.0


def drain_time(n: int, per_second: float) -> float:
    """Seconds in which a channel has told n: summaries of 25 while more wait than it tells singly in ten seconds."""
    messages = 0
    while n > SINGLY * per_second:
        n -= SUMMARY
        messages += 1
    return (messages + max(n, 0)) / per_second


async def flood(
    apg: AsyncConnection[Any], dsn: str, tmp_path: Path, n: int, per_second: float
) -> dict[str, float]:
    """n incidents at once for Slack and five for PagerDuty, and a restart in the middle; the figures."""
    told, paged = AlertService(judges.slack, Mood(per_second=per_second)), AlertService(judges.pagerduty)
    settings = settings_of(
        tmp_path,
        channels={"ops": slack(told, rate=f"{per_second:g}/1s"), "pager": pagerduty(paged)},
        queues={"HIGH": {"escalation": "pager"}, "DEFAULT": {"escalation": "ops"}},
    )
    raise_ = "select postmill.raise_incident(%s, 'k' || g, %s, %s || g || '.', '{}', null, %s) from generate_series(1, %s) g"
    with serving(told, paged):
        async with escalating(dsn, settings):
            began = time.monotonic()
            await apg.execute(raise_, ["budget", "warning", "incident number ", "DEFAULT", n])
            await apg.execute(raise_, ["job_exhausted", "critical", "page number ", "HIGH", PAGED])
            await aeventually(lambda: len(paged.delivered) == PAGED, 10, "all paged")
            await aeventually(lambda: told.delivered, 10, "Slack is told")
        # Three are over before it was told of all: each is told all the same, and then that it is over.
        await apg.execute("select postmill.resolve_incident('budget', 'k' || g) from generate_series(1, 3) g")
        async with escalating(dsn, settings):
            waiting = "select count(*) from postmill.notification where status = 'pending'"

            async def all_told() -> bool:
                said = "\n".join(texts(told.delivered))
                return len(re.findall(r"number \d", said)) >= n + 3 and await value(apg, waiting) == 0

            await aeventually(all_told, drain_time(n + 3, per_second) * 2 + 30, "all told")
    said = "\n".join(texts(told.delivered))
    first = re.findall(r"\[warning\] incident number (\d+)\.", said)
    assert sorted(map(int, first)) == list(range(1, n + 1)), "each once, none lost"
    over = re.findall(r"over: incident number (\d+)\.", said)
    assert sorted(map(int, over)) == [1, 2, 3]
    for number in over:
        assert said.index(f"[warning] incident number {number}.") < said.index(
            f"over: incident number {number}."
        )
    assert judges.open_alerts([call.body for call in paged.delivered]).keys() == {
        call.body["dedup_key"] for call in paged.delivered
    }
    return {
        "paged": paged.delivered[-1].at - began,
        "took": told.delivered[-1].at - began,
        "computed": drain_time(n + 3, per_second),
        "messages": len(told.delivered),
        "refused": len(told.calls) - len(told.delivered),
    }


async def test_each_reaches_the_service_in_time_and_paging_is_not_delayed(
    apg: AsyncConnection[Any], dsn: str, tmp_path: Path
) -> None:
    figures = await flood(apg, dsn, tmp_path, 46, per_second=2)
    assert figures["paged"] < 8
    assert figures["took"] < figures["computed"] + 15  # a busy machine, and the restart


@pytest.mark.long
async def test_three_hundred_within_a_second(apg: AsyncConnection[Any], dsn: str, tmp_path: Path) -> None:
    figures = await flood(apg, dsn, tmp_path, 300, per_second=1)
    (Path(tmp_path) / "figures").write_text(repr(figures))
    assert figures["paged"] < 8
    assert figures["took"] < figures["computed"] + 10, figures
