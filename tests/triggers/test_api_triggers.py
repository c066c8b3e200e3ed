"""Seed 3's trigger endpoints to the letter, and what was added: run, next, preview, ticks; scope, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from postmill import schedule
from postmill.bind import arun
from postmill.domain.access import Role
from postmill.store.triggers import register_triggers
from tests.domain.test_trigger import SEED_EVENT, SEED_SCHEDULE
from tests.support.api import Api, problem, unknown_id

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/jobs/triggers"
SCHEMA = {
    "type": "object",
    "properties": {"provider_id": {"type": "string"}, "path_prefix": {"type": "string"}},
    "required": ["provider_id"],
}


async def admin(api: Api, tenant: str = "acme") -> httpx.AsyncClient:
    await api.define("sync-dropbox", arg_schema=SCHEMA)
    await api.define("noop")
    return await api.client(Role.TENANT_ADMIN, tenant)


async def made(api: Api, **fields: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "label": "t",
        "trigger_type": "schedule",
        "definition_key": "noop",
        "cron_expr": "0 2 * * *",
    }
    if "event_name" in fields:
        base = {"label": "t", "trigger_type": "event", "definition_key": "noop"}
    answer = await (await admin(api)).post(PATH, json={**base, **fields})
    assert answer.status_code == 201, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def test_the_seeds_payloads(api: Api) -> None:
    client = await admin(api)
    event = (await client.post(PATH, json=SEED_EVENT)).json()
    assert {name: event[name] for name in SEED_EVENT} == SEED_EVENT
    assert (event["is_enabled"], event["next_runs"], event["origin"]) == (True, [], "api")
    answer = await client.post(PATH, json=SEED_SCHEDULE)
    assert answer.status_code == 201
    nightly = answer.json()
    assert {name: nightly[name] for name in SEED_SCHEDULE} == SEED_SCHEDULE
    assert nightly["dedupe_window_seconds"] == 300
    assert len(nightly["next_runs"]) == 10
    assert {run["local"][11:19] for run in nightly["next_runs"]} == {"02:00:00"}
    assert nightly["next_runs"][0]["due"] == nightly["next_run_at"]
    # The seed's own schedule names no provider, which the seed's own definition asks for.
    assert "provider_id" in nightly["warnings"][0]
    assert answer.headers["location"].endswith(f"{PATH}/{nightly['id']}")
    one = (await client.get(f"{PATH}/{nightly['id']}")).json()
    assert one == {name: value for name, value in nightly.items() if name not in ("next_runs", "warnings")}
    runs = (await client.get(f"{PATH}/{nightly['id']}/next", params={"count": 10})).json()
    assert runs["items"] == nightly["next_runs"]
    listed = (await client.get(PATH, params={"trigger_type": "schedule"})).json()["items"]
    assert nightly["id"] in [it["id"] for it in listed]


async def test_lists_have_filters_and_pages(api: Api) -> None:
    client = await admin(api)
    ids = [(await made(api, event_name="paged", label=str(n)))["id"] for n in range(5)]
    found, cursor = [], None
    for _ in range(4):
        params = {"event_name": "paged", "limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await client.get(PATH, params=params)).json()
        found += [it["id"] for it in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert found == ids[::-1]
    assert len((await client.get(PATH, params={"event_name": "paged", "offset": 3})).json()["items"]) == 2
    problem(await client.get(PATH, params={"evnt_name": "x"}), 422, "unknown-parameter")


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"cron_expr": "0 0 31 2 *"}, "cron_expr"),
        ({"cron_expr": ""}, "cron_expr"),
        ({"cron_expr": "*" * 10_240}, "cron_expr"),
        ({"cron_expr": ["0 9 * * *", "61 * * * *"]}, "cron_expr"),
        ({"timezone": "Europe/Amsterdamm"}, "timezone"),
        ({"every": "1ms", "cron_expr": None}, "every"),
        ({"definition_key": "nothing"}, "definition_key"),
        ({"payload_template": {"a": "{{ event.x }}"}}, "payload_template.a"),
        ({"label": ""}, "label"),
        ({"event_name": "a"}, "event_name"),
    ],
)
async def test_a_bad_field_is_named(api: Api, fields: dict[str, Any], at: str) -> None:
    body = {
        "label": "t",
        "trigger_type": "schedule",
        "definition_key": "noop",
        "cron_expr": "* * * * *",
        **fields,
    }
    for url in (PATH, f"{PATH}/preview"):
        answer = await (await admin(api)).post(url, json=body)
        assert at in [error["at"] for error in problem(answer, 422, "invalid-trigger")["errors"]]


async def test_patch_plans_anew_only_what_it_changes(api: Api) -> None:
    client = await admin(api)
    one = await made(api, cron_expr="*/5 * * * *", timezone="UTC")
    url = f"{PATH}/{one['id']}"
    await api.owner.execute(
        "update postmill.trigger set next_run_at = '2001-01-01T00:00Z' where id = %s", (one["id"],)
    )
    renamed = (await client.patch(url, json={"label": "renamed"})).json()
    assert (renamed["label"], renamed["next_run_at"]) == ("renamed", "2001-01-01T00:00:00Z")
    off = (await client.patch(url, json={"is_enabled": False})).json()
    assert (off["is_enabled"], off["next_runs"]) == (False, [])
    on = (await client.patch(url, json={"is_enabled": True})).json()
    assert datetime.fromisoformat(on["next_run_at"]) > datetime.now(UTC)
    stepped = (await client.patch(url, json={"every": "15m"})).json()
    assert (stepped["every_seconds"], stepped["cron_expr"]) == (900.0, None)
    first, second = stepped["next_runs"][:2]
    gap = datetime.fromisoformat(second["due"]) - datetime.fromisoformat(first["due"])
    assert gap.total_seconds() == 900
    problem(await client.patch(url, json={"every": None}), 422, "invalid-trigger")
    problem(await client.patch(url, json={"trigger_type": "event"}), 422, "invalid-trigger")
    problem(await client.patch(url, json={"colour": 1}), 422, "invalid-request")
    log = await api.rows(
        "select action, before ->> 'label', after ->> 'label' from postmill.audit_log where target = %s order by id limit 2",
        one["id"],
    )
    assert log == [("triggers.create", None, "t"), ("triggers.change", "t", "renamed")]


async def test_delete_is_soft(api: Api) -> None:
    client = await admin(api)
    one = await made(api)
    url = f"{PATH}/{one['id']}"
    assert (await client.delete(url)).status_code == 204
    for answer in (
        await client.get(url),
        await client.delete(url),
        await client.patch(url, json={}),
        await client.post(f"{url}/run"),
    ):
        problem(answer, 404, "not-found")
    assert await api.rows("select deleted_at is not null from postmill.trigger where id = %s", one["id"]) == [
        (True,)
    ]


async def test_run_by_hand(api: Api) -> None:
    client = await admin(api)
    template = {"provider_id": "{{ event.id }}"}
    waiting = {"event_name": "x.*", "definition_key": "sync-dropbox", "is_enabled": False}
    one = await made(api, payload_template=template, **waiting)
    url = f"{PATH}/{one['id']}/run"
    answer = await client.post(url, json={"context": {"id": "p-1"}})
    assert answer.status_code == 201, answer.text
    job = (await client.get(f"/jobs/{answer.json()['job_id']}")).json()
    assert (job["source"], job["source_ref"], job["payload"]) == ("manual", one["id"], {"provider_id": "p-1"})
    assert job["actor_type"] == "api_key"
    # The window is not asked.
    again = await client.post(url, json={"context": {"id": "p-1"}})
    assert again.json()["job_id"] != job["id"]
    assert "has no attribute 'id'" in problem(await client.post(url), 409, "run-refused")["detail"]
    viewer = await api.client(Role.VIEWER)
    problem(await viewer.post(url), 403, "forbidden")


async def test_another_tenants_triggers_are_not_there(api: Api) -> None:
    one = await made(api)
    stranger = await admin(api, "other")
    url = f"{PATH}/{one['id']}"
    for answer in (
        await stranger.get(url),
        await stranger.patch(url, json={"label": "mine"}),
        await stranger.delete(url),
        await stranger.post(f"{url}/run"),
        await stranger.get(f"{url}/next"),
        await stranger.get(f"{url}/ticks"),
        await stranger.get(f"{url}/deliveries"),
        await stranger.get(f"{PATH}/{unknown_id()}"),
        await stranger.post(PATH, json={**SEED_EVENT, "tenant_id": str(await api.tenant("acme"))}),
    ):
        problem(answer, 404, "not-found")
    assert one["id"] not in [it["id"] for it in (await stranger.get(PATH)).json()["items"]]
    platform = await api.client(Role.SUPER_ADMIN, None)
    assert (await platform.get(url)).status_code == 200
    body = {**SEED_EVENT, "tenant_id": str(await api.tenant("other"))}
    assert (await platform.post(PATH, json=body)).json()["tenant_id"] == body["tenant_id"]


async def test_code_declares_and_only_code_changes(api: Api) -> None:
    client = await api.client(Role.SUPER_ADMIN, None)
    await admin(api)
    nightly = schedule("declared", "noop", cron="0 3 * * *")
    columns = [nightly.columns("shop.jobs"), schedule("lost", "nothing", every="1h").columns("shop.jobs")]
    assert await arun(api.owner, register_triggers(["shop.jobs"], columns)) == {
        "declared": "created",
        "lost": "unknown_type",
    }
    assert await arun(api.owner, register_triggers(["shop.jobs"], columns[:1])) == {"declared": "unchanged"}
    (one,) = [it for it in (await client.get(PATH)).json()["items"] if it["label"] == "declared"]
    assert (one["origin"], one["declared_in"]) == ("code", "shop.jobs")
    url = f"{PATH}/{one['id']}"
    problem(await client.patch(url, json={"is_enabled": False}), 409, "declared-in-code")
    problem(await client.delete(url), 409, "declared-in-code")
    later = schedule("declared", "noop", cron="0 4 * * *").columns("shop.jobs")
    assert await arun(api.owner, register_triggers(["shop.jobs"], [later])) == {"declared": "changed"}
    assert await arun(api.owner, register_triggers(["elsewhere"], [])) == {}
    assert await arun(api.owner, register_triggers(["shop.jobs"], [])) == {"declared": "removed"}
    problem(await client.get(url), 404, "not-found")


async def test_ticks_are_shown(api: Api) -> None:
    client = await admin(api)
    one = await made(api)
    await api.owner.execute(
        "insert into postmill.tick (trigger_id, due, tenant_id, outcome, detail, fired_at, last_due, ticks)"
        " select %s, postmill.now() - g * interval '1 hour', %s, 'skipped', 'missed', postmill.now(), null, 1"
        " from generate_series(1, 3) g",
        (one["id"], one["tenant_id"]),
    )
    page = (await client.get(f"{PATH}/{one['id']}/ticks", params={"limit": 2})).json()
    rest = (await client.get(f"{PATH}/{one['id']}/ticks", params={"cursor": page["next"]})).json()
    dues = [it["due"] for it in (*page["items"], *rest["items"])]
    assert len(dues) == 3
    assert dues == sorted(dues, reverse=True)


async def test_a_frequent_schedule_with_a_long_window_is_warned_of(api: Api) -> None:
    body = {"label": "t", "trigger_type": "schedule", "definition_key": "noop", "cron_expr": "* * * * *"}
    client = await admin(api)
    found = (await client.post(f"{PATH}/preview", json=body, params={"count": 3})).json()
    assert (len(found["next_runs"]), found["dedupe_window_seconds"], found["warnings"]) == (3, 60, [])
    found = (await client.post(f"{PATH}/preview", json={**body, "dedupe_window_seconds": 300})).json()
    assert "60 s apart" in found["warnings"][0]
