"""What the portals have when the demo begins, so that every job type finds work: places, prices, sites, listings, accounts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from psycopg import AsyncConnection, Connection
from psycopg.types.json import Jsonb
from pydantic import SecretStr

from examples.homepage.demo.data import rows
from examples.homepage.social.network import Granted
from examples.homepage.social.refresh import connect
from examples.homepage.social.settings import from_environment
from examples.homepage.social.vault import Tokens, Vault


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere whose weather is shown."""

    name: str
    latitude: float
    longitude: float
    country: str

    @property
    def point(self) -> str:
        """As the National Weather Service is asked for it."""
        return f"{self.latitude:g},{self.longitude:g}"


@dataclass(frozen=True, slots=True)
class Furniture:
    """Of one portal; `stocks` are names by symbol."""

    places: tuple[Place, ...]
    stocks: Mapping[str, str]


FURNITURE = {
    "village": Furniture(
        (Place("New York", 40.7128, -74.006, "US"), Place("Albany", 42.6526, -73.7562, "US")),
        {"AAPL": "Apple", "IBM": "IBM"},
    ),
    "harbour": Furniture(
        (Place("Amsterdam", 52.3676, 4.9041, "NL"), Place("Boston", 42.3601, -71.0589, "US")),
        {"ASML": "ASML", "SHEL": "Shell"},
    ),
}
WARNED = [furniture.places[-1].point for furniture in FURNITURE.values()]
"""Where there is a storm."""


def furnish(conn: Connection[Any], dsn: str, told: Mapping[str, str]) -> None:
    """Fill the application's tables; what an earlier run has left is as on the first day. `told` says where stand-ins are."""
    pages = told["DEMO_PAGES"]
    for portal, has in FURNITURE.items():
        places = [asdict(place) for place in has.places]
        rows(conn, "places", portal=portal, places=Jsonb(places))
        rows(conn, "stocks", portal=portal, stocks=Jsonb(dict(has.stocks)))
        rows(conn, "sites", portal=portal, url=pages, host=urlsplit(pages).netloc)
        rows(conn, "visits", portal=portal)
        rows(conn, "listings", portal=portal)
    asyncio.run(_sign_in(dsn, told))
    rows(conn, "refresh_accounts")


async def _sign_in(dsn: str, told: Mapping[str, str]) -> None:
    """Each portal connects its account, as at the end of the sign-in at the network."""
    settings = from_environment(told)
    client = (settings.client_id, settings.client_secret.get_secret_value())
    async with (
        httpx.AsyncClient(base_url=settings.base_url, auth=client, trust_env=False) as http,
        await AsyncConnection.connect(dsn, autocommit=True) as conn,
    ):
        for portal in FURNITURE:
            form = {"grant_type": "authorization_code", "code": f"code-of-{portal}"}
            granted = (await http.post("/2/oauth2/token", data=form)).raise_for_status().json()
            tokens = Tokens(SecretStr(granted["access_token"]), SecretStr(granted["refresh_token"]))
            vault = Vault(settings.token_keys)
            await connect(conn, vault, portal, f"@{portal}", Granted(tokens, granted["expires_in"]))
