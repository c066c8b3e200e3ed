"""Settings of the HTTP API, and of who may log in to it."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from postmill.domain.access import Role
from postmill.domain.settings_types import Count, PositiveSeconds, Seconds, Section, comma_separated

ASYMMETRIC = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures of RFC 7518 and RFC 8037 whose key to verify is not the key to sign."""


def _asymmetric(names: tuple[str, ...]) -> tuple[str, ...]:
    unfit = [name for name in names if name not in ASYMMETRIC]
    if unfit or not names:
        # With a symmetric one the provider's public key would sign tokens.
        raise ValueError(f"{unfit or 'nothing'} cannot be accepted; asymmetric are {', '.join(ASYMMETRIC)}")
    return names


def _role_map(entries: tuple[str, ...]) -> tuple[str, ...]:
    for entry in entries:
        value, mark, role = entry.partition("=")
        if not mark or not value.strip() or role.strip() not in set(Role):
            raise ValueError(f"{entry!r} is not value=role; roles are {', '.join(Role)}")
    return entries


def _networks(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        try:
            ip_network(text)
        except ValueError:
            raise ValueError(f"{text!r} is no network; write it as 10.0.0.0/8, or one address") from None
    return texts


class ServerSettings(Section):
    """The `postmill server` command: the HTTP API, and the console on it."""

    host: str = Field(
        default="127.0.0.1",
        description="Address that it listens on; another one than loopback needs a login to be configured.",
    )
    port: int = Field(default=8700, ge=0, le=65535, description="Port that it listens on.")
    root_path: str = Field(
        default="", description="Path under which a proxy publishes it, e.g. `/postmill`; none is the root."
    )
    public_url: str | None = Field(
        default=None,
        description="How people reach it, for login links; none is the address that it listens on.",
    )
    trusted_proxies: str | None = Field(
        default=None,
        description="Addresses whose `X-Forwarded-*` headers are believed, comma-separated; none believes nobody.",
    )
    allow_from: Annotated[tuple[str, ...], BeforeValidator(comma_separated), AfterValidator(_networks)] = (
        Field(
            default=(),
            description="Networks that requests may come from, as `10.0.0.0/8, 2001:db8::/32`; none is everywhere. Not asked of"
            " probes (`/healthz`, `/readyz`) and inbound webhooks.",
        )
    )
    connections: Count = Field(default=10, description="Database connections at once.")
    rate_per_key: float = Field(
        default=2000.0,
        ge=1,
        le=1e6,
        description="Requests a second of one API key or login, in each process; more are answered 429.",
    )
    grace: Seconds = Field(default=10.0, description="Seconds that requests get to end after SIGTERM.")
    session: PositiveSeconds = Field(
        default=12 * 3600.0, description="Seconds that a login of the console lasts: 12 hours."
    )
    open_metrics: bool = Field(
        default=False,
        description="`/metrics` without credentials; else the role must be allowed `metrics.read`.",
    )


class OidcSettings(Section):
    """Bearer tokens of an OpenID Connect provider; in force once `issuer` and `audience` are set."""

    issuer: str | None = Field(default=None, description="The `iss` that tokens must have; none is no OIDC.")
    audience: str | None = Field(default=None, description="The `aud` that tokens must have.")
    jwks_url: str | None = Field(
        default=None, description="Where the provider's keys are; none asks its discovery document."
    )
    algorithms: Annotated[tuple[str, ...], BeforeValidator(comma_separated), AfterValidator(_asymmetric)] = (
        Field(
            default=("RS256", "ES256", "EdDSA"),
            description="Signatures that are accepted, comma-separated; asymmetric ones only.",
        )
    )
    leeway: Seconds = Field(default=30.0, description="Seconds that the provider's clock may be off.")
    tenant_claim: str = Field(default="tenant", description="Claim that holds the tenant's slug or id.")
    role_claim: str = Field(default="role", description="Claim that holds the role, or a list of values.")
    roles: Annotated[tuple[str, ...], BeforeValidator(comma_separated), AfterValidator(_role_map)] = Field(
        default=(),
        description="What the role claim's values mean, as `value=role`, comma-separated; none: they are roles.",
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.issuer is None) != (self.audience is None):
            raise ValueError("issuer and audience go together: without an audience any token would do")
        return self

    @property
    def role_map(self) -> dict[str, Role]:
        """The meaning of the role claim's values."""
        if not self.roles:
            return {role.value: role for role in Role}
        return {
            value.strip(): Role(role.strip()) for value, _, role in (e.partition("=") for e in self.roles)
        }
