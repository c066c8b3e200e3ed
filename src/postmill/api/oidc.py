"""Bearer tokens of an OpenID Connect provider: verified with its published keys, claims turned into a principal.

Source: OpenID Connect Core 1.0, section 3.1.3.7; RFC 7519; RFC 8725 (algorithms are allow-listed, the key's kind
decides, nothing in a token says where keys are).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import jwt

from postmill.api.jwks import KeySet, KeysUnreachable
from postmill.api.problems import Problem, unauthorized
from postmill.domain.access import PERMISSIONS, PLATFORM_ROLES, TENANT_ROLES, Role
from postmill.domain.settings_server import OidcSettings

EVERY_TENANT = "*"
"""A tenant claim that says: the platform's. Nothing is the platform's because a claim is missing."""


class Provider:
    """One provider, as the settings name it."""

    def __init__(self, settings: OidcSettings) -> None:
        self._settings = settings
        self._keys = KeySet(settings.issuer or "", settings.jwks_url)

    @classmethod
    def of(cls, settings: OidcSettings) -> Self | None:
        """The provider of the settings; None where there is none."""
        return cls(settings) if settings.issuer else None

    async def claims(self, token: str) -> Mapping[str, Any]:
        """The claims of a token that holds.

        Raises:
            Problem: 401 for any other, 503 where the provider's keys cannot be had.
        """
        wanted = self._settings
        try:
            header = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            if algorithm not in wanted.algorithms:
                raise jwt.InvalidAlgorithmError(
                    f"signed by {algorithm!r}, accepted are {', '.join(wanted.algorithms)}"
                )
            key = await self._keys.key(header.get("kid"), str(algorithm))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[str(algorithm)],
                audience=wanted.audience,
                issuer=wanted.issuer,
                leeway=wanted.leeway,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except KeysUnreachable as fault:
            raise Problem(503, "provider-unreachable", str(fault)) from None
        except jwt.PyJWTError as fault:
            raise unauthorized(f"this token does not hold: {fault}") from None
        return claims

    def role(self, claims: Mapping[str, Any]) -> Role:
        """The role that the claims give; of several the one that may the most. Raises Problem (403) for none."""
        value = _claim(claims, self._settings.role_claim)
        meaning = self._settings.role_map
        found = [
            meaning[one] for one in (value if isinstance(value, list) else [value]) if _known(one, meaning)
        ]
        if not found:
            raise Problem(
                403, "no-role", f"the claim {self._settings.role_claim!r} of this token gives no role here"
            )
        return max(found, key=lambda role: len(PERMISSIONS[role]))

    def tenant(self, claims: Mapping[str, Any], role: Role) -> str | None:
        """Slug or id of the tenant; None for the platform's. Raises Problem (403) where one is needed."""
        if role in PLATFORM_ROLES:
            return None
        name = self._settings.tenant_claim
        value = _claim(claims, name)
        if value == EVERY_TENANT and role not in TENANT_ROLES:
            return None
        if not isinstance(value, str) or not value or value == EVERY_TENANT:
            raise Problem(403, "no-tenant", f"the claim {name!r} of this token names no tenant")
        return value


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """A claim by its name, or by a path of names with dots between."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _known(value: Any, meaning: Mapping[str, Role]) -> bool:
    return isinstance(value, str) and value in meaning
