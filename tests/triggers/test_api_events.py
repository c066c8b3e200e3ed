"""Events and webhooks over HTTP: published at once, shown within the scope, taken only where they are signed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from typing import Any

import httpx
import pytest

from postmill.domain.access import Role
from tests.support.api import Api, problem, unknown_id

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def ready(api: Api) -> httpx.AsyncClient:
    await api.define("noop")
    return await api.client()


async def trigger(client: httpx.AsyncClient, **fields: Any) -> str:
    body = {"label": "t", "trigger_type": "event", "definition_key": "noop", **fields}
    answer = await client.post("/jobs/triggers", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def test_publishing_makes_the_jobs_and_says_so(api: Api) -> None:
    client = await ready(api)
    good = await trigger(client, event_name="folder.*", payload_template={"path": "{{ event.path }}"})
    bad = await trigger(client, event_name="folder.updated", payload_template={"x": "{{ event.nothing }}"})
    body = {"name": "folder.updated", "context": {"path": "/a", "api_token": "tok_1234567890abcdef"}}
    answer = await client.post("/events", json=body, headers={"X-Correlation-ID": "order-1"})
    assert answer.status_code == 201, answer.text
    event = answer.json()
    found = {it["trigger_id"]: it for it in event["deliveries"]}
    assert {id: it["outcome"] for id, it in found.items()} == {good: "enqueued", bad: "failed"}
    assert "nothing" in found[bad]["detail"]
    job = (await client.get(f"/jobs/{found[good]['job_id']}")).json()
    assert (job["source"], job["source_ref"], job["correlation_id"]) == ("event", event["id"], "order-1")
    assert job["payload"] == {"path": "/a"}
    url = f"/events/{event['id']}"
    deliveries = (await client.get(f"{url}/deliveries")).json()["items"]
    assert {it["trigger_id"]: it["job_id"] for it in deliveries} == {good: job["id"], bad: None}
    assert (await client.get(f"/jobs/triggers/{bad}/deliveries")).json()["items"][0]["event_id"] == event[
        "id"
    ]
    assert "nothing" in (await client.get(f"/jobs/triggers/{bad}")).json()["error"]
    shown = (await client.get(url)).json()
    assert (shown["name"], shown["context"]["path"], shown["actor_type"]) == (
        "folder.updated",
        "/a",
        "api_key",
    )
    assert "tok_1234567890abcdef" not in str(shown)
    viewer = await api.client(Role.VIEWER)
    assert (await viewer.get(url)).json()["context"] is None
    problem(await viewer.post("/events", json=body), 403, "forbidden")
    stranger = await api.client(tenant="other")
    problem(await stranger.get(url), 404, "not-found")
    problem(await stranger.get(f"{url}/deliveries"), 404, "not-found")
    assert (await stranger.get("/events")).json()["items"] == []
    problem(await stranger.post("/events", json=body | {"tenant_id": job["tenant_id"]}), 404, "not-found")


async def test_lists_and_refusals(api: Api) -> None:
    client = await ready(api)
    ids = [(await client.post("/events", json={"name": "listed"})).json()["id"] for _ in range(3)]
    page = (await client.get("/events", params={"name": "listed", "limit": 2})).json()
    rest = (await client.get("/events", params={"name": "listed", "cursor": page["next"]})).json()
    assert [it["id"] for it in (*page["items"], *rest["items"])] == ids[::-1]
    after = (
        await client.get("/events", params={"name": "listed", "created_after": "2999-01-01T00:00:00Z"})
    ).json()
    assert after["items"] == []
    problem(await client.post("/events", json={"name": "a b"}), 422, "invalid-request")
    problem(await client.post("/events", json={"name": "a", "contxt": {}}), 422, "invalid-request")
    problem(await client.get(f"/events/{unknown_id()}"), 404, "not-found")


def signed(secret: str, body: bytes, *, id: str = "msg_1", at: float | None = None) -> dict[str, str]:
    """The headers of Standard Webhooks, made as a sender makes them."""
    stamp = str(int(time.time() if at is None else at))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{id}.{stamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": id,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1a,x v1,{base64.b64encode(mac).decode()}",
        "content-type": "application/json",
    }


async def test_a_signed_message_is_an_event_once(api: Api) -> None:
    client = await ready(api)
    await trigger(
        client, event_name="hook.*", payload_template={"n": "{{ event.n }}", "by": "{{ meta.event_name }}"}
    )
    made = (await client.post("/jobs/webhooks", json={"label": "Dropbox", "event_name": "hook.came"})).json()
    assert "secret" not in (await client.get(f"/jobs/webhooks/{made['id']}")).json()
    url, body = f"/webhooks/{made['id']}", b'{"n": 7}'
    outside = httpx.AsyncClient(transport=httpx.ASGITransport(api.app), base_url="http://api.test/api/v1")
    async with outside:
        answer = await outside.post(url, content=body, headers=signed(made["secret"], body))
        assert answer.status_code == 202, answer.text
        event = answer.json()["event_id"]
        again = await outside.post(
            url, content=body, headers=signed(made["secret"], body, at=time.time() + 1)
        )
        assert (again.status_code, again.json()) == (200, {"event_id": event, "duplicate": True})
        # Another body, another id, another time, another secret.
        good = signed(made["secret"], body, id="msg_2")
        other = "whsec_" + base64.b64encode(b"x" * 32).decode()
        for content, headers in (
            (b'{"n": 8}', good),
            (body, good | {"webhook-id": "msg_3"}),
            (body, good | {"webhook-timestamp": str(int(time.time()) + 1)}),
            (body, signed(other, body, id="msg_4")),
            (body, good | {"webhook-signature": "v1,!!!"}),
            (body, {"content-type": "application/json"}),
        ):
            problem(await outside.post(url, content=content, headers=headers), 401, "bad-signature")
        for at in (time.time() - 301, time.time() + 302):
            headers = signed(made["secret"], body, id="msg_5", at=at)
            problem(await outside.post(url, content=body, headers=headers), 401, "stale-message")
        listing = b"[1]"
        problem(
            await outside.post(url, content=listing, headers=signed(made["secret"], listing)),
            422,
            "invalid-payload",
        )
        problem(await outside.post(f"/webhooks/{unknown_id()}", content=body, headers=good), 404, "not-found")
        # Open is this one way in, and nothing beside it.
        problem(await outside.get("/jobs/webhooks"), 401, "unauthorized")
        problem(await outside.post(f"{url}/rotate"), 401, "unauthorized")

        rotated = (await client.post(f"/jobs/webhooks/{made['id']}/rotate")).json()
        for id, secret in (("msg_6", made["secret"]), ("msg_7", rotated["secret"])):
            assert (
                await outside.post(url, content=body, headers=signed(secret, body, id=id))
            ).status_code == 202
        await client.patch(f"/jobs/webhooks/{made['id']}", json={"is_enabled": False})
        problem(
            await outside.post(url, content=body, headers=signed(rotated["secret"], body, id="msg_8")),
            404,
            "not-found",
        )
        assert (await client.delete(f"/jobs/webhooks/{made['id']}")).status_code == 204
    events = (await client.get("/events", params={"name": "hook.came"})).json()["items"]
    assert len(events) == 3
    assert {it["actor_id"] for it in events} == {f"webhook:{made['id']}"}
    job = (await client.get(f"/events/{event}/deliveries")).json()["items"][0]["job_id"]
    assert (await client.get(f"/jobs/{job}")).json()["payload"] == {"n": 7, "by": "hook.came"}


async def test_no_request_reads_a_secret(api: Api) -> None:
    """Neither the request's role nor the reader behind its views may."""
    for role in ("postmill_request", "postmill_reader"):
        (allowed,) = await api.rows(
            "select has_table_privilege(%s, 'postmill.webhook_secret', 'select')", role
        )
        assert allowed == (False,)
