"""Which lane a job waits in: one fair share of its queue. The rules of the SQL functions, bit for bit."""

from __future__ import annotations

import hashlib
from uuid import UUID

DEFAULT_TENANT = UUID("00000000-0000-0000-0000-000000000001")
"""The tenant of single-tenant users."""

NO_LANE = UUID(int=0)
"""The lane of a queue with `lane = none`: one strict order by priority."""


def tenant_lane(tenant: UUID) -> UUID:
    """The default: each tenant's share is a lane of its own."""
    return tenant


def key_lane(tenant: UUID, key: str) -> UUID:
    """The lane of a payload key inside a tenant.

    Equal to SQL's `md5(tenant::text || ':' || key)::uuid`, so both sides find the same lane.
    """
    digest = hashlib.md5(f"{tenant}:{key}".encode(), usedforsecurity=False)
    return UUID(bytes=digest.digest())


def type_prefix(job_type: str) -> bytes:
    """The first eight bytes of every lane of a job type with a limit: by them a claim knows the type."""
    return hashlib.md5(job_type.encode(), usedforsecurity=False).digest()[:8]


def type_lane(tenant: UUID, job_type: str) -> UUID:
    """A tenant's lane of a job type with a limit."""
    return UUID(bytes=type_prefix(job_type) + key_lane(tenant, job_type).bytes[:8])


def lane_of(rule: str, tenant: UUID, job_type: str, key: str | None = None) -> UUID:
    """The lane that SQL's `lane_of` finds.

    `rule`: `tenant`, `none`, `type` (job types with a limit, so that one at its cap never sits in front of
    others) or `payload.<field>`. `key` is the caller's own lane key, which wins except over `type`, or the
    field's value.
    """
    if rule == "type":
        return type_lane(tenant, job_type)
    if key is not None:
        return key_lane(tenant, key)
    return NO_LANE if rule == "none" else tenant_lane(tenant)


def check_rule(rule: str) -> str:
    """`rule` if people may write it: `tenant`, `none` or `payload.<field>[.<field>]`; else ValueError."""
    kind, dot, path = rule.partition(".")
    if rule in ("tenant", "none") or (kind == "payload" and dot and all(path.split("."))):
        return rule
    raise ValueError(f"lane {rule!r} is none of: tenant, none, payload.<field>")
