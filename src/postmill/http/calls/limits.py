"""Limits over the whole fleet."""

from __future__ import annotations

from postmill.http.call import Call, at, get, model, nothing, write
from postmill.shapes.limits import FleetLimit, FleetLimitDetail, NewLimit
from postmill.shapes.paging import Page


def list_limits(*, limit: int | None = None, cursor: str | None = None) -> Call[Page[FleetLimit]]:
    """Limits by name, with what is used of them now."""
    return get(at("limits"), model(Page[FleetLimit]), limit=limit, cursor=cursor)


def get_limit(limit_name: str) -> Call[FleetLimitDetail]:
    """One limit, with the fullest of what it counts."""
    return get(at("limits", *limit_name.split("/")), model(FleetLimitDetail))


def set_limit(limit_name: str, limit: NewLimit, *, idempotency_key: str | None = None) -> Call[FleetLimit]:
    """Sets a limit, live; without `max_running` and `rate` a declared one is lifted."""
    return write("PUT", at("limits", *limit_name.split("/")), model(FleetLimit), limit, key=idempotency_key)


def clear_limit(
    limit_name: str, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[None]:
    """Takes back what an operator set: what code or settings declare is in force again."""
    return write(
        "DELETE", at("limits", *limit_name.split("/")), nothing, key=idempotency_key, query={"reason": reason}
    )
