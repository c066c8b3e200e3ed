"""Triggers as people write them: which fields there are, what each may be, and what follows from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from typing import Any
from uuid import UUID

from postmill.domain.errors import Fault, PayloadRefused, PostmillError
from postmill.domain.event import check_event_pattern
from postmill.domain.missed import Missed
from postmill.domain.payload import check_line
from postmill.domain.schedule import Schedule, cron_schedule, cron_text, step_of
from postmill.domain.suggest import did_you_mean
from postmill.domain.template import EVENT_ROOTS, SCHEDULE_ROOTS, TemplateRefused, check_template
from postmill.domain.zone import Dst, zone

DEFAULT_WINDOW = 300
"""Seconds of the dedupe window (seed 3)."""

LONGEST_WINDOW = 365 * 86400
LONGEST_JITTER = 86400


class TriggerType(StrEnum):
    """What a trigger waits for."""

    EVENT = "event"
    SCHEDULE = "schedule"


class Overlap(StrEnum):
    """What a tick does while the job of the tick before is not over: run beside it, be left out, or have it canceled."""

    ALLOW = "allow"
    SKIP = "skip"
    CANCEL_PREVIOUS = "cancel_previous"


class TriggerRefused(PostmillError):
    """A trigger cannot be as it is written; `faults` name each field that is wrong, and why."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        return "; ".join(map(str, self.faults))


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerSpec:
    """A trigger, checked.

    Attributes:
        cron_expr: lines of cron, one a line of the text.
        payload_template: the text of a JSON object.
        dedupe_window_seconds: None: 300, or less where a schedule runs more often than that.
    """

    label: str
    trigger_type: TriggerType
    definition_key: str
    payload_template: str
    is_enabled: bool = True
    event_name: str | None = None
    cron_expr: str | None = None
    every: timedelta | None = None
    timezone: str | None = None
    dedupe_window_seconds: int | None = None
    missed: Missed = Missed.ONCE
    missed_limit: int = 100
    overlap: Overlap = Overlap.ALLOW
    dst: Dst = Dst.ONCE
    jitter_seconds: int = 0

    def schedule(self, anchor: datetime) -> Schedule:
        """When it is due; only of a schedule. `anchor` is where `every` counts from."""
        assert self.timezone is not None
        if self.every is not None:
            return Schedule(every=self.every, timezone=self.timezone, anchor=anchor)
        assert self.cron_expr is not None
        return cron_schedule(self.cron_expr, self.timezone, self.dst)

    def window(self, moment: datetime) -> int:
        """The dedupe window in seconds. By default no longer than the shortest time between two runs, so that equal
        payloads of a frequent schedule all count."""
        if self.dedupe_window_seconds is not None:
            return self.dedupe_window_seconds
        if self.trigger_type is TriggerType.EVENT:
            return DEFAULT_WINDOW
        gap = self.schedule(moment).shortest_gap(moment)
        return DEFAULT_WINDOW if gap is None else min(DEFAULT_WINDOW, int(gap.total_seconds()))


FIELDS = (
    *(
        "label",
        "trigger_type",
        "definition_key",
        "payload_template",
        "is_enabled",
        "event_name",
        "cron_expr",
        "every",
    ),
    *("timezone", "dedupe_window_seconds", "missed", "missed_limit", "overlap", "dst", "jitter_seconds"),
)
"""Everything that may be written of a trigger."""

_OF_SCHEDULES = (
    "cron_expr",
    "every",
    "timezone",
    "missed",
    "missed_limit",
    "overlap",
    "dst",
    "jitter_seconds",
)


def check_trigger(fields: Mapping[str, Any], *, timezone: str = "UTC") -> TriggerSpec:
    """A trigger from its fields; those that are None count as not given.

    Args:
        timezone: that of the tenant, for a schedule that names none.

    Raises:
        TriggerRefused: names every field that is wrong, missing or unknown.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    check = _Check(given)
    for name in given.keys() - set(FIELDS):
        check.refuse(name, f"is no field of a trigger{did_you_mean(name, FIELDS, noun='fields')}")
    kind = check.field("trigger_type", TriggerType.SCHEDULE if "event_name" not in given else TriggerType.EVENT,
                       lambda value: TriggerType(_one_of(value, TriggerType)), required=True)  # fmt: skip
    if kind is TriggerType.EVENT:
        for name in (name for name in _OF_SCHEDULES if name in given):
            check.refuse(name, "belongs to schedules, and this trigger waits for an event")
            del given[name]
    elif "event_name" in given:
        check.refuse("event_name", "belongs to triggers of type event, and this one is a schedule")
    made = {
        "label": check.field("label", "", _label, required=True),
        "trigger_type": kind,
        "definition_key": check.field("definition_key", "", _label, required=True),
        "payload_template": check.template(
            "payload_template", EVENT_ROOTS if kind is TriggerType.EVENT else SCHEDULE_ROOTS
        ),
        "is_enabled": check.field("is_enabled", True, _flag),
        "dedupe_window_seconds": check.field("dedupe_window_seconds", None, _whole(0, LONGEST_WINDOW)),
    }
    if kind is TriggerType.EVENT:
        made["event_name"] = check.field("event_name", "", check_event_pattern, required=True)
    else:
        made |= _schedule(check, timezone)
    if check.faults:
        raise TriggerRefused(check.faults)
    return TriggerSpec(**made)


def jitter_of(trigger_id: UUID, due: datetime, most: int) -> timedelta:
    """How much later than its tick the job is due: from 0 to `most` seconds, the same whoever asks."""
    if most == 0:
        return timedelta(0)
    mark = blake2b(trigger_id.bytes + due.isoformat().encode(), digest_size=8).digest()
    return timedelta(milliseconds=int.from_bytes(mark, "big") % (most * 1000))


def _schedule(check: _Check, timezone: str) -> dict[str, Any]:
    if "every" in check.given and "cron_expr" in check.given:
        check.refuse("every", "and cron_expr exclude each other")
    elif "every" not in check.given and "cron_expr" not in check.given:
        check.refuse("cron_expr", "is missing: a schedule needs it, or every")
    named = check.field("timezone", timezone, lambda value: zone(_text(value)).key)
    dst = check.field("dst", Dst.ONCE, lambda value: Dst(_one_of(value, Dst)))

    def lines(value: object) -> str:
        text = cron_text(value if isinstance(value, list) else _text(value))
        cron_schedule(text, "UTC", Dst.ONCE)
        return text

    return {
        "cron_expr": check.field("cron_expr", None, lines),
        "every": check.field("every", None, step_of),
        "timezone": named,
        "dst": dst,
        "missed": check.field("missed", Missed.ONCE, lambda value: Missed(_one_of(value, Missed))),
        "missed_limit": check.field("missed_limit", 100, _whole(1, 1000)),
        "overlap": check.field("overlap", Overlap.ALLOW, lambda value: Overlap(_one_of(value, Overlap))),
        "jitter_seconds": check.field("jitter_seconds", 0, _whole(0, LONGEST_JITTER)),
    }


class _Check:
    """Gathers what is wrong, so that all of it is told at once."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.faults: list[Fault] = []

    def refuse(self, name: str, why: str) -> None:
        self.faults.append(Fault(name, why))

    def field(self, name: str, absent: Any, check: Callable[[Any], Any], *, required: bool = False) -> Any:
        if name not in self.given:
            if required:
                self.refuse(name, "is missing")
            return absent
        try:
            return check(self.given[name])
        except PayloadRefused as fault:
            self.refuse(name, fault.why)
        except (ValueError, TypeError) as fault:
            self.refuse(name, str(fault))
        return absent

    def template(self, name: str, roots: frozenset[str]) -> str:
        try:
            return check_template(self.given.get(name, {}), roots)
        except TemplateRefused as fault:
            self.faults += [Fault(f"{name}{part.path}", part.why) for part in fault.faults]
        except PayloadRefused as fault:
            self.refuse(f"{name}{fault.path.removeprefix('args')}", fault.why)
        return "{}"


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"is text, not {type(value).__name__}")
    return value


def _label(value: object) -> str:
    return check_line("label", _text(value).strip(), longest=200)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"is true or false, not {value!r}")
    return value


def _one_of(value: object, allowed: type[StrEnum]) -> str:
    if value not in list(allowed):
        raise ValueError(f"{str(value)[:40]!r} is none of: {', '.join(allowed)}")
    return str(value)


def _whole(least: int, most: int) -> Callable[[object], int]:
    def check(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"is a whole number from {least} to {most}, not {str(value)[:40]}")
        return value

    return check


def columns_of(spec: TriggerSpec, window: int) -> dict[str, Any]:
    """A trigger in the column names of its table, as plain JSON data, without its definition and its tenant."""
    return {
        "label": spec.label,
        "is_enabled": spec.is_enabled,
        "trigger_type": spec.trigger_type.value,
        "event_name": spec.event_name,
        "cron_expr": spec.cron_expr,
        "every": None if spec.every is None else f"{spec.every.total_seconds()} seconds",
        "timezone": spec.timezone,
        "payload_template": json.loads(spec.payload_template),
        "dedupe_window_seconds": window,
        "missed": spec.missed.value,
        "missed_limit": spec.missed_limit,
        "overlap": spec.overlap.value,
        "dst": spec.dst.value,
        "jitter_seconds": spec.jitter_seconds,
    }
