"""The console on a database: browsers without a screen, each logged in as somebody."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx

from postmill.api.cookies import COOKIE
from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.operate.keys import create_link
from tests.support.api import BASE, Api

HTML = "text/html,application/xhtml+xml"


@dataclass
class Console:
    """Pages of one application."""

    api: Api
    browsers: dict[tuple[Role, str | None], httpx.AsyncClient] = field(default_factory=dict)

    async def browser(self, role: Role = Role.SUPER_ADMIN, tenant: str | None = None) -> httpx.AsyncClient:
        """A client with a login of this role and a jar for cookies, which asks for pages and does not follow redirects."""
        if (role, tenant) not in self.browsers:
            token = await self.token(role, tenant)
            client = anybody(self.api)
            answer = await client.get(f"/login?token={token}")
            assert answer.status_code == 303, answer.text
            assert COOKIE in client.cookies
            self.browsers[role, tenant] = client
        return self.browsers[role, tenant]

    async def token(self, role: Role = Role.SUPER_ADMIN, tenant: str | None = None) -> str:
        """What a login link carries: `/login?token=…`, once."""
        if tenant is not None:
            await self.api.tenant(tenant)
        made = await adrive(self.api.owner, create_link(f"{role}@{tenant}", role, tenant=tenant))
        return made.token


def anybody(api: Api) -> httpx.AsyncClient:
    """A browser of somebody who is not logged in."""
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(
            api.app, raise_app_exceptions=bool(__import__("os").environ.get("RAISE"))
        ),
        base_url=BASE,
        headers={"Accept": HTML, "Sec-Fetch-Site": "same-origin"},
    )
    api.clients.append(client)
    return client


async def sent(client: httpx.AsyncClient, page: str, path: str, **fields: str | list[str]) -> httpx.Response:
    """A form of a page, sent as a browser does: with the token that stands in the page."""
    shown = await client.get(page)
    assert shown.status_code == 200, shown.text
    token = shown.text.partition('name="csrf" value="')[2].partition('"')[0]
    return await client.post(path, data={"csrf": token, "back": page, **fields})
