"""What may be said of a tenant: its slug, and the settings that the platform gives it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from postmill.domain.errors import InvalidValue
from postmill.domain.suggest import did_you_mean
from postmill.domain.zone import zone

STATUSES = ("active", "throttled", "suspended")

_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def check_slug(slug: str, what: str = "tenant") -> str:
    """The slug if it is one that fits into URLs and settings.

    Raises:
        InvalidValue: it is not 1 to 63 of `a-z 0-9 -`, or begins or ends with `-`.
    """
    if not _SLUG.fullmatch(slug):
        raise InvalidValue(
            f"{slug[:80]!r} is no slug of a {what}: use 1 to 63 of a-z, 0-9 and -, not first or last a -"
        )
    return slug


def check_tenant(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a tenant, each if it is one.

    Args:
        settings: any of `name`, `timezone` (of the tz database), `status`, `weight` (1 to 1000: its share of a queue),
            `max_running` (jobs at once; None is without limit), `raised_to` and `raised_until` (a higher limit for a time, both
            or neither; a datetime with a zone), `retention_seconds` (None is the platform's).

    Raises:
        InvalidValue: says which is wrong, and what was expected.
    """
    for key, value in settings.items():
        _CHECKS[key](value)
    if (settings.get("raised_to") is None) != (settings.get("raised_until") is None):
        raise InvalidValue("raised_to and raised_until belong together: a limit, and until when it holds")
    return dict(settings)


def _name(value: object) -> None:
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= 200 or "\0" in value:
        raise InvalidValue("name is 1 to 200 characters")


def _timezone(value: object) -> None:
    try:
        zone(str(value))
    except ValueError as fault:
        raise InvalidValue(str(fault)) from None


def _status(value: object) -> None:
    if value not in STATUSES:
        raise InvalidValue(f"status {value!r} is none{did_you_mean(str(value), STATUSES, noun='statuses')}")


def _weight(value: object) -> None:
    if not _whole(value) or not 1 <= int(str(value)) <= 1000:
        raise InvalidValue("weight is a whole number from 1 to 1000")


def _max_running(value: object) -> None:
    if value is not None and (not _whole(value) or not 1 <= int(str(value)) <= 2**31 - 1):
        raise InvalidValue("max_running is a whole number from 1 on, or nothing for no limit")


def _raised_until(value: object) -> None:
    if value is not None and not (isinstance(value, datetime) and value.utcoffset() is not None):
        raise InvalidValue("raised_until is a moment with a time zone, or nothing")


def _retention(value: object) -> None:
    if value is not None and not (isinstance(value, int | float) and 1 <= value <= 100 * 366 * 86400):
        raise InvalidValue("retention_seconds is from 1 to 100 years' worth, or nothing for the platform's")


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_CHECKS = {
    "name": _name,
    "timezone": _timezone,
    "status": _status,
    "weight": _weight,
    "max_running": _max_running,
    "raised_to": _max_running,
    "raised_until": _raised_until,
    "retention_seconds": _retention,
}
