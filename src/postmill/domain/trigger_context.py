"""What a payload template sees: the event with what is known of it, or the due moment of a schedule."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from postmill.domain.zone import zone


def common(trigger_id: UUID, label: str, tenant_id: UUID, slug: str, timezone: str) -> dict[str, Any]:
    """`trigger` and `tenant`, which every template sees."""
    return {
        "trigger": {"id": str(trigger_id), "label": label},
        "tenant": {"id": str(tenant_id), "slug": slug, "timezone": timezone},
    }


def of_event(
    context: Mapping[str, Any], *, event_id: UUID, name: str, published_at: datetime, correlation_id: str
) -> dict[str, Any]:
    """`event` is the context as it was published, `meta` what the platform knows of the event."""
    return {
        "event": context,
        "meta": {
            "event_id": str(event_id),
            "event_name": name,
            "published_at": instant(published_at),
            "correlation_id": correlation_id,
        },
    }


def of_tick(due: datetime, timezone: str) -> dict[str, Any]:
    """`schedule`: the due moment as instant, as local time with its offset, and as local date; and the zone."""
    local = due.astimezone(zone(timezone))
    return {
        "schedule": {
            "due": instant(due),
            "local": local.isoformat(timespec="seconds"),
            "date": local.date().isoformat(),
            "timezone": timezone,
        }
    }


def instant(moment: datetime) -> str:
    """RFC 3339 in UTC, to the second, or to the microsecond where it has any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
