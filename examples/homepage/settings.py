"""What the application is told by its environment. Postmill's own settings are in homepage.yaml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from examples.homepage.environment import read

VARIABLES = {
    "database_url": "HOMEPAGE_DATABASE_URL",
    "connections": "HOMEPAGE_CONNECTIONS",
    "admin_token": "ADMIN_TOKEN",
    "user_agent": "HOMEPAGE_USER_AGENT",
    "allow_private": "HOMEPAGE_ALLOW_PRIVATE",
    "feed_timeout": "RSS_TIMEOUT",
    "feed_bytes": "RSS_MAX_BYTES",
    "feed_entries": "RSS_MAX_ENTRIES",
}

Network = IPv4Network | IPv6Network


def _networks(value: object) -> object:
    if isinstance(value, str):
        return tuple(ip_network(part.strip()) for part in value.split(",") if part.strip())
    return value


class Settings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    database_url: SecretStr
    connections: int = Field(default=8, ge=1)
    """Most connections of one process to the application's tables."""
    admin_token: SecretStr | None = None
    """What administrators send; without one the API listens on this machine only, and asks nobody."""
    user_agent: str = "VillageHomepage/1.0 (+https://homepage.villagecompute.com/bot)"
    """How we introduce ourselves to other servers. Some turn away what looks like a library."""
    allow_private: Annotated[tuple[Network, ...], BeforeValidator(_networks)] = ()
    """Networks that are reached although they are private (or of this machine), as `10.1.0.0/16, 127.0.0.1`."""
    feed_timeout: float = Field(default=30.0, gt=0)
    """Seconds from the request for a feed to its last byte, redirects included."""
    feed_bytes: int = Field(default=5 * 1024 * 1024, ge=1024)
    """Most bytes of a feed, unpacked."""
    feed_entries: int = Field(default=1000, ge=1)
    """Most entries of a feed that are looked at, the first ones."""


def from_environment(env: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this process. Raises SettingsMissing."""
    found = dict(env)
    if not found.get("HOMEPAGE_DATABASE_URL"):
        found["HOMEPAGE_DATABASE_URL"] = found.get("POSTMILL_DATABASE_URL", "")
    return read(Settings, VARIABLES, found)
