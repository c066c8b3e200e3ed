"""The network: X's API v2, by OAuth 2 (RFC 6749, section 6)."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import SecretStr

from examples.homepage.outbound.services import Service, ServiceError
from examples.homepage.settings import from_environment as site_settings
from examples.homepage.social.settings import SocialSettings, from_environment
from examples.homepage.social.vault import Tokens, Vault
from postmill import resource

NAME = "social"
_USUAL, _LONGEST = 3600, 30 * 86400


class Revoked(Exception):
    """The network does not take the token any more: its owner has to connect the account anew."""


@dataclass(frozen=True, slots=True)
class Granted:
    """New tokens; `lifetime` of the access token, in seconds."""

    tokens: Tokens
    lifetime: int


class Network:
    """One network, as one client."""

    def __init__(self, service: Service, settings: SocialSettings) -> None:
        self._service = service
        self._client = settings.client_id, settings.client_secret

    async def renew(self, tokens: Tokens) -> Granted:
        """New tokens for old ones, which are of no use from then on. Raises Revoked or ServiceError."""
        name, secret = self._client
        basic = base64.b64encode(f"{name}:{secret.get_secret_value()}".encode()).decode()
        form = {"grant_type": "refresh_token", "refresh_token": tokens.refresh.get_secret_value()}
        try:
            found = await self._service.json(
                "/2/oauth2/token", form=form, headers={"Authorization": f"Basic {basic}"}
            )
        except ServiceError as error:
            if error.status == 400 and _says_token(error.answer):
                raise Revoked("the network has refused the refresh token") from None
            raise
        return _granted(found, tokens)

    async def posts(self, remote_id: str, access: SecretStr) -> list[dict[str, Any]]:
        """The latest posts of an account. Raises Revoked or ServiceError."""
        try:
            found = await self._service.json(
                f"/2/users/{remote_id}/tweets",
                params={"tweet.fields": "created_at", "max_results": "100"},
                headers={"Authorization": f"Bearer {access.get_secret_value()}"},
            )
        except ServiceError as error:
            if error.status == 401:
                raise Revoked("the network has refused the access token") from None
            raise
        try:
            posts = found.get("data", [])
            return [{name: str(post[name]) for name in ("id", "text", "created_at")} for post in posts]
        except (KeyError, TypeError):
            raise ServiceError(NAME, "garbage") from None


def _says_token(answer: Mapping[str, Any]) -> bool:
    """The standard's word, or X's."""
    error, why = answer.get("error"), str(answer.get("error_description", ""))
    return error == "invalid_grant" or (error == "invalid_request" and "token" in why)


def _granted(found: Mapping[str, Any], before: Tokens) -> Granted:
    access, refresh = found.get("access_token"), found.get("refresh_token", before.refresh.get_secret_value())
    if not (isinstance(access, str) and isinstance(refresh, str)):
        raise ServiceError(NAME, "garbage")
    return Granted(Tokens(SecretStr(access), SecretStr(refresh)), _lifetime(found.get("expires_in")))


def _lifetime(told: object) -> int:
    """Seconds. The old tokens are of no use any more: whatever is said of how long the new ones are good, they are kept."""
    try:
        return min(max(int(str(told)), 0), _LONGEST)
    except ValueError:
        return _USUAL


class Social(NamedTuple):
    """The network, and the vault of its tokens."""

    network: Network
    vault: Vault


@resource
async def social() -> AsyncIterator[Social]:
    """Of a worker process."""
    settings, agent = from_environment(), site_settings().user_agent
    async with Service(NAME, settings.base_url, user_agent=agent, timeout=settings.timeout) as service:
        yield Social(Network(service, settings), Vault(settings.token_keys))
