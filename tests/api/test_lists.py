"""Lists are whole, in order, and each tenant's own: every filter, page by page, against a look at everything."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio

from postmill.domain.access import Role
from tests.support.api import Api, problem
from tests.support.jobs_in_states import StateMaker

pytestmark = pytest.mark.asyncio(loop_scope="module")

STATES = ("scheduled", "queued", "running", "succeeded", "failed", "canceled", "dead_letter")
SOURCES = ("manual", "event", "schedule")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def jobs(api: Api) -> list[dict[str, Any]]:
    """150 jobs of two tenants in all states, as the owner sees them, the newest first."""
    await api.define("plain")
    await api.define("other", queue="q:other")
    makers = [await StateMaker.begin(api.owner, await api.tenant(slug)) for slug in ("acme", "globex")]
    for n in range(150):
        maker, state = makers[n % 3 == 0], STATES[n % 7]
        kind = "other" if n % 5 == 0 else "plain"
        make = {"scheduled": maker.scheduled, "queued": maker.queued, "running": maker.running}.get(state)
        id = await make(kind) if make else await maker.ended(state, kind)
        await api.owner.execute("update postmill.job set source = %s where id = %s", [SOURCES[n % 4 % 3], id])
    # Some bodies have outlived their partition.
    await api.owner.execute(
        """with old as (delete from postmill.job where id in (select id from postmill.job order by id limit 20) returning *)
           insert into postmill.job_kept select * from old"""
    )
    rows = await api.rows(
        """select j.id, j.tenant_id, j.source::text, j.job_type, j.queue, j.created_at,
                  (select s.state from postmill.job_state(array[j.id]) s)
             from postmill.any_job j order by j.id desc"""
    )
    names = ("id", "tenant_id", "source", "definition_key", "queue", "queued_at", "status")
    return [dict(zip(names, row, strict=True)) for row in rows]


async def walk(client: httpx.AsyncClient, limit: int = 7, **params: Any) -> list[dict[str, Any]]:
    """All pages, one after the other."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    for _ in range(200):
        answer = await client.get("/jobs", params={**params, **cursor, "limit": limit})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        assert len(page["items"]) <= limit
        found += page["items"]
        if page["next"] is None:
            return found
        cursor = {"cursor": page["next"]}
    raise AssertionError("the list has no end")


FILTERS: list[dict[str, str]] = [
    {},
    *({"status": status} for status in STATES),
    *({"source": source} for source in SOURCES),
    {"definition_key": "other"},
    {"queue": "q:other", "status": "succeeded"},
    {"status": "failed", "source": "event"},
    {"status": "blocked"},
    {"definition_key": "unheard-of"},
]


@pytest.mark.parametrize("filter", FILTERS, ids=str)
async def test_every_filter_page_by_page(
    api: Api, jobs: list[dict[str, Any]], filter: dict[str, str]
) -> None:
    for role, tenant in ((Role.VIEWER, "acme"), (Role.VIEWER, "globex"), (Role.PLATFORM_VIEWER, None)):
        client = await api.client(role, tenant)
        found = await walk(client, **filter)
        own = None if tenant is None else api.tenants[tenant]
        expected = [
            str(job["id"])
            for job in jobs
            if (own is None or job["tenant_id"] == own)
            and all(job[key] == value for key, value in filter.items())
        ]
        assert [job["id"] for job in found] == expected
        assert all(job[key] == value for job in found for key, value in filter.items())


async def test_a_platform_may_ask_for_one_tenant(api: Api, jobs: list[dict[str, Any]]) -> None:
    globex = api.tenants["globex"]
    found = await walk(await api.client(Role.PLATFORM_VIEWER, None), tenant_id=str(globex))
    assert [job["id"] for job in found] == [str(job["id"]) for job in jobs if job["tenant_id"] == globex]
    assert await walk(await api.client(Role.VIEWER, "acme"), tenant_id=str(globex)) == []


async def test_moments_and_offsets(api: Api, jobs: list[dict[str, Any]]) -> None:
    client = await api.client(Role.PLATFORM_VIEWER, None)
    low, high = jobs[100]["queued_at"], jobs[30]["queued_at"]
    found = await walk(client, created_after=low.isoformat(), created_before=high.isoformat())
    assert [UUID(job["id"]) for job in found] == [job["id"] for job in jobs[31:100]]
    assert all(low < datetime.fromisoformat(job["queued_at"]) < high for job in found)
    page = (await client.get("/jobs", params={"limit": 10, "offset": 25})).json()
    assert [UUID(job["id"]) for job in page["items"]] == [job["id"] for job in jobs[25:35]]
    page = (await client.get("/jobs", params={"limit": 10, "cursor": page["next"]})).json()
    assert [UUID(job["id"]) for job in page["items"]] == [job["id"] for job in jobs[35:45]]
    page = (await client.get("/jobs", params={"limit": 10, "offset": 145})).json()
    assert (len(page["items"]), page["next"]) == (5, None)
    assert (await client.get("/jobs", params={"limit": 10, "offset": 9000})).json() == {
        "items": [],
        "next": None,
    }


@pytest.mark.parametrize("status", [None, *STATES])
async def test_walks_that_may_look_at_few_jobs_still_find_all(
    api: Api, jobs: list[dict[str, Any]], status: str | None
) -> None:
    """Each walk comes back short with where it stopped, and going on from there misses nothing."""
    acme = api.tenants["acme"]
    expected = [job["id"] for job in jobs if job["tenant_id"] == acme and status in (None, job["status"])]
    for way in ("bodies",) if status is None else ("bodies", "places"):
        found: list[UUID] = []
        below = UUID(int=2**128 - 1)
        for _ in range(500):
            ((ids, low),) = await api.rows(
                "select w.ids, w.low from postmill.read_walk(%s, %s, null, null, null, %s, %s, %s, null, null, 3, 4) w",
                way, status, acme, below, UUID(int=0),
            )  # fmt: skip
            found += ids
            if len(ids) < 3 and low is None:
                break
            below = ids[-1] if len(ids) == 3 else low
        assert found == expected, way


async def test_the_summary_counts_what_the_lists_show(api: Api, jobs: list[dict[str, Any]]) -> None:
    for role, tenant in ((Role.VIEWER, "acme"), (Role.PLATFORM_VIEWER, None)):
        summary = (await (await api.client(role, tenant)).get("/jobs/summary")).json()
        own = None if tenant is None else api.tenants[tenant]
        seen = [job["status"] for job in jobs if own is None or job["tenant_id"] == own]
        assert {state: n for state, n in summary["counts_by_status"].items() if n} == {
            s: seen.count(s) for s in STATES
        }
        assert summary["running_count"] == seen.count("running")
        assert summary["oldest_queued_age_seconds"] > 0
        assert summary["at_least"] == []


@pytest.mark.parametrize("most", [1, 3, 40])
async def test_counts_that_end_early_say_so(api: Api, jobs: list[dict[str, Any]], most: int) -> None:
    for tenant in (None, api.tenants["acme"]):
        seen = [job["status"] for job in jobs if tenant is None or job["tenant_id"] == tenant]
        for state, n, at_least, _ in await api.rows(
            "select state, n, at_least, oldest_seconds from postmill.read_summary(%s, %s)", tenant, most
        ):
            true = seen.count(state)
            assert n <= true
            assert (n == true) or at_least, (state, n, true)
            assert n >= min(true, most) or state == "succeeded" or (at_least and tenant is not None)


async def test_what_is_wrong_with_a_request_for_a_page(api: Api, jobs: list[dict[str, Any]]) -> None:
    client = await api.client(Role.VIEWER, "acme")
    for params, kind in (
        ({"statuss": "queued"}, "unknown-parameter"),
        ({"status": "retrying"}, "invalid-request"),
        ({"limit": 201}, "invalid-request"),
        ({"limit": 0}, "invalid-request"),
        ({"offset": 10001}, "invalid-request"),
        ({"cursor": "nonsense"}, "invalid-cursor"),
        ({"cursor": "WzFd"}, "invalid-cursor"),
        ({"cursor": "W10"}, "invalid-cursor"),
        ({"cursor": "WyIwMTljNmQ1ZSJd", "offset": 1}, "invalid-cursor"),
        ({"created_after": "yesterday"}, "invalid-request"),
        ({"created_after": "2026-01-01T00:00:00"}, "invalid-request"),
        ({"created_after": "0001-01-01T00:00:00+14:00"}, "invalid-request"),
        ({"queue": "a\0b"}, "unstorable"),
    ):
        problem(await client.get("/jobs", params=params), 422, kind)
    problem(await client.get("/jobs?limit=1&limit=2"), 422, "invalid-request")
    document = problem(await client.get("/jobs?statuss=queued"), 422, "unknown-parameter")
    assert "status" in document["detail"]
