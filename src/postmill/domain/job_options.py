"""The options of one job: what `.using(…)` takes, checked and brought into one form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, TypedDict
from uuid import UUID

from postmill.domain.duration import seconds
from postmill.domain.errors import PayloadRefused
from postmill.domain.idempotency import Mode
from postmill.domain.payload import check_line
from postmill.domain.suggest import did_you_mean
from postmill.domain.tags import check_tags

ActorType = Literal["user", "system", "api_key"]
Source = Literal["manual", "event", "schedule", "system"]

ACTOR_TYPES = ("user", "system", "api_key")
SOURCES = ("manual", "event", "schedule", "system")
INT_MAX = 2**31 - 1


class JobOptions(TypedDict, total=False):
    """Options of a job, as in NewJob; `tenant` and `project` are short for `tenant_id` and `project_id`."""

    tenant_id: UUID | str
    tenant: UUID | str
    project_id: UUID | str | None
    project: UUID | str | None
    priority: int | None
    delay: timedelta | float | None
    scheduled_for: datetime | None
    key: str | None
    mode: Mode | Literal["active", "queued", "window", "ttl"] | None
    window: timedelta | float | None
    actor_type: ActorType
    actor_id: UUID | str | None
    request_id: str | None
    correlation_id: str | None
    traceparent: str | None
    max_attempts: int | None
    timeout: timedelta | float | None
    expires_at: datetime | None
    lane_key: str | None
    source: Source
    source_ref: str | None
    tags: Sequence[str]


ALIASES = {"tenant": "tenant_id", "project": "project_id"}


def normalize(options: Mapping[str, object]) -> dict[str, object]:
    """The options by their full names, each checked.

    Raises TypeError for an unknown or doubled option, PayloadRefused (with the option as path) for a bad
    value.
    """
    made: dict[str, object] = {}
    for given, value in options.items():
        name = ALIASES.get(given, given)
        check = _CHECKS.get(name)
        if check is None:
            hint = did_you_mean(given, [*_CHECKS, *ALIASES], noun="options")
            raise TypeError(f"unknown job option {given!r}{hint}")
        if name in made:
            raise TypeError(f"job option {name!r} is given twice")
        try:
            made[name] = None if value is None and name not in _NEVER_NONE else check(name, value)
        except (TypeError, ValueError) as fault:
            raise PayloadRefused(name, str(fault)) from None
    if made.get("delay") is not None and made.get("scheduled_for") is not None:
        raise PayloadRefused("delay", "and scheduled_for exclude each other: a delay is added by the server")
    return made


def merge(options: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    """Both, the changes winning: a new delay takes the place of an instant, and the other way round."""
    merged = {**options, **changes}
    for name, other in (("delay", "scheduled_for"), ("scheduled_for", "delay")):
        if changes.get(name) is not None:
            merged.pop(other, None)
    return merged


def _uuid(name: str, value: object) -> UUID:
    return value if isinstance(value, UUID) else UUID(_text(name, value))


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"must be text, not {type(value).__name__}")
    return check_line(name, value)


def _actor(name: str, value: object) -> str:
    return str(value) if isinstance(value, UUID) else _text(name, value)


def _integer(least: int) -> Callable[[str, object], int]:
    def check(name: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"must be a whole number, not {value!r:.100}")
        if not least <= value <= INT_MAX:
            raise ValueError(f"must be from {least} to {INT_MAX}")
        return value

    return check


def _moment(name: str, value: object) -> datetime:
    if not isinstance(value, datetime):
        raise TypeError(f"must be a datetime, not {type(value).__name__}")
    if value.utcoffset() is None:
        raise ValueError("is a datetime without a time zone; give it one")
    return value


def _length(name: str, value: object) -> timedelta:
    return timedelta(seconds=seconds(value, "it"))


def _timeout(name: str, value: object) -> float:
    return seconds(value, "it", zero=False)


def _window(name: str, value: object) -> timedelta:
    return timedelta(seconds=seconds(value, "it", zero=False))


def _mode(name: str, value: object) -> Mode:
    return Mode(_one_of(tuple(Mode))(name, value))


def _one_of(allowed: tuple[str, ...]) -> Callable[[str, object], str]:
    def check(name: str, value: object) -> str:
        if value not in allowed:
            raise ValueError(f"{value!r:.100} is none of: {', '.join(allowed)}")
        return str(value)

    return check


_CHECKS: dict[str, Callable[[str, object], object]] = {
    "tenant_id": _uuid,
    "project_id": _uuid,
    "priority": _integer(-INT_MAX - 1),
    "delay": _length,
    "scheduled_for": _moment,
    "key": _text,
    "mode": _mode,
    "window": _window,
    "actor_type": _one_of(ACTOR_TYPES),
    "actor_id": _actor,
    "request_id": _text,
    "correlation_id": _text,
    "traceparent": _text,
    "max_attempts": _integer(1),
    "timeout": _timeout,
    "expires_at": _moment,
    "lane_key": _text,
    "source": _one_of(SOURCES),
    "source_ref": _text,
    "tags": lambda _name, value: check_tags(value),
}
_NEVER_NONE = frozenset({"tenant_id", "actor_type", "source", "tags"})
