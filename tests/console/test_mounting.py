"""The console in somebody else's application, and behind a proxy: every link, cookie and file stays below its path."""

from __future__ import annotations

import re

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from postmill.bind import adrive
from postmill.console import create_app
from postmill.domain.access import Role
from postmill.domain.settings import Settings
from postmill.operate.keys import create_link
from tests.console.harness import HTML
from tests.support.api import opened
from tests.support.databases import Database

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_mounted_into_another_application(console_database: Database) -> None:
    console = create_app(Settings.model_validate({"database_url": console_database.dsn}))
    outer = Starlette(
        routes=[Mount("/mill", console)], lifespan=lambda _: console.router.lifespan_context(console)
    )
    async with outer.router.lifespan_context(outer), await console_database.aconnect() as owner:
        made = await adrive(owner, create_link("ada", Role.SUPER_ADMIN))
        await walk(httpx.ASGITransport(outer), "http://own.test", made.token)


@pytest.mark.parametrize("stripped", [True, False])
async def test_behind_a_proxy(console_database: Database, stripped: bool) -> None:
    async with opened(console_database, root_path="/mill", public_url="https://own.test/mill") as api:
        made = await adrive(api.owner, create_link("ada", Role.SUPER_ADMIN))
        await walk(httpx.ASGITransport(api.app), "https://own.test", made.token, stripped=stripped)


async def walk(transport: httpx.AsyncBaseTransport, base: str, token: str, *, stripped: bool = False) -> None:
    async def ask(method: str, path: str, **more: object) -> httpx.Response:
        assert path.startswith("/mill"), path
        sent = path.removeprefix("/mill") if stripped else path
        return await client.request(method, sent or "/", **more)  # type: ignore[arg-type]

    headers = {"Accept": HTML, "Origin": base}
    async with httpx.AsyncClient(transport=transport, base_url=base, headers=headers) as client:
        answer = await ask("GET", "/mill/ops/queues")
        assert answer.headers["location"] == "/mill/login?next=%2Fops%2Fqueues"
        answer = await ask("POST", "/mill/login", data={"token": token, "next": "/ops/queues"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/mill/ops/queues")
        assert "Path=/mill" in answer.headers["set-cookie"]
        if stripped:
            # The browser keeps it for the path that it knows.
            name, _, rest = answer.headers["set-cookie"].partition("=")
            client.headers["cookie"] = f"{name}={rest.partition(';')[0]}"
        page = await ask("GET", "/mill/ops/queues")
        assert page.status_code == 200
        links = re.findall(r'(?:href|src|action)="([^"#]*)"', page.text)
        assert links
        assert [link for link in links if not link.startswith("/mill/")] == []
        for file in (link for link in links if "/static/" in link):
            assert (await ask("GET", file)).status_code == 200, file
        form = page.text.partition('name="csrf" value="')[2].partition('"')[0]
        answer = await ask(
            "POST", "/mill/ops/preferences", data={"csrf": form, "back": "/ops/queues", "theme": "dark"}
        )
        assert (answer.status_code, answer.headers["location"]) == (303, "/mill/ops/queues")
