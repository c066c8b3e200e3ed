"""Dropbox's webhooks: the challenge, the signature, and an event for each tenant that has the account."""

from __future__ import annotations

import hashlib
import hmac
import json

import httpx
import pytest
from starlette.applications import Starlette

from examples.photos.bodies import triggers
from examples.photos.providers import connect_provider
from examples.photos.tests.studio import Studio
from examples.photos.web import PATH, create_app
from postmill.bind import drive
from postmill.operate.definitions import create
from postmill.operate.triggers import create as create_trigger

SECRET = "the app's secret"
EVENTS = (
    "select tenant_id, context from postmill.event where name = 'provider.folder.updated' order by tenant_id"
)


@pytest.fixture
def app(studio: Studio) -> Starlette:
    return create_app(studio.dsn, SECRET)


async def post(app: Starlette, body: bytes, signature: str | None = None) -> int:
    """The status of one note's answer."""
    if signature is None:
        signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://zoltag") as client:
        return (await client.post(PATH, content=body, headers={"X-Dropbox-Signature": signature})).status_code


def note(*accounts: str) -> bytes:
    """What Dropbox says when accounts have changed."""
    return json.dumps({"list_folder": {"accounts": accounts}, "delta": {"users": [7]}}).encode()


async def test_the_challenge_is_echoed(app: Starlette) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://zoltag") as client:
        answer = await client.get(PATH, params={"challenge": "a-b_c"})
    assert (answer.status_code, answer.text) == (200, "a-b_c")
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_note_is_an_event_of_each_tenant_with_the_account(app: Starlette, studio: Studio) -> None:
    one, other, third = (studio.tenant(slug) for slug in ("bcg", "lakeside", "third"))
    shared = connect_provider(
        studio.conn, other.id, one.account.id, one.token, key=studio.key, folder="/Shared"
    )
    drive(studio.conn, create({"key": "sync-dropbox", "argv_template": ["zoltag"]}))
    for tenant in (one, other, third):
        drive(studio.conn, create_trigger(triggers()[0], tenant=tenant.id))
    assert await post(app, note(one.account.id, "dbid:nobody")) == 200
    wanted = {
        one.id: {"provider_id": str(one.provider), "folder_path": "/"},
        other.id: {"provider_id": str(shared), "folder_path": "/Shared"},
    }
    assert dict(studio.rows(EVENTS)) == wanted
    jobs = dict(studio.rows("select tenant_id, payload from postmill.jobs where source = 'event'"))
    assert {tenant: payload["path_prefix"] for tenant, payload in jobs.items()} == {
        one.id: "/",
        other.id: "/Shared",
    }


@pytest.mark.parametrize("signature", ["", "0" * 64, "nonsense"])
async def test_who_cannot_sign_is_not_heard(app: Starlette, studio: Studio, signature: str) -> None:
    tenant = studio.tenant("bcg")
    assert await post(app, note(tenant.account.id), signature) == 403
    assert studio.rows(EVENTS) == []


@pytest.mark.parametrize("body", [b"", b"[]", b'{"list_folder": 1}', b"\xff"])
async def test_nonsense_that_is_signed_is_refused(app: Starlette, body: bytes) -> None:
    assert await post(app, body) == 400
