"""Events: names, and the patterns of names that triggers wait for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.domain.errors import PayloadRefused
from postmill.domain.payload import encode

LONGEST_NAME = 200

_NAME = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*", re.ASCII)


def check_event_name(name: object) -> str:
    """The name of an event, as in `provider.folder.updated`. PayloadRefused says what it may be."""
    if not isinstance(name, str) or len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise PayloadRefused(
            "name",
            f"{str(name)[:60]!r} is no name of an event: words of letters, digits, _ and - with dots between them,"
            f" at most {LONGEST_NAME} characters",
        )
    return name


def check_event_pattern(pattern: object) -> str:
    """What a trigger waits for: the name of an event, or its beginning and `.*`, or `*` for every one.

    `provider.*` meets `provider.folder.updated`, and not `provider`. ValueError says what it may be.
    """
    if pattern == "*":
        return "*"
    try:
        check_event_name(pattern.removesuffix(".*") if isinstance(pattern, str) else pattern)
    except PayloadRefused as fault:
        raise ValueError(f"{fault.why}, or its beginning and .* as in provider.*") from None
    return str(pattern)


def check_context(context: Mapping[str, object]) -> bytes:
    """The context of an event as JSON that can be stored. PayloadRefused names the path, which begins with `context`."""
    try:
        return encode(context)
    except PayloadRefused as fault:
        raise PayloadRefused(f"context{fault.path.removeprefix('args')}", fault.why) from None


@dataclass(frozen=True, slots=True)
class Delivery:
    """What came of an event at one trigger.

    `outcome`: enqueued | duplicate (an equal payload within the window, or a held idempotency key) | failed (the
    template did not fit, or what it made is no payload of the type) | refused (the job type) | skipped | pending (a
    worker settles it). `job_id` is the job that was made or found.
    """

    trigger_id: UUID
    label: str
    outcome: str
    detail: str | None = None
    job_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """An event that was published, with what came of it at each trigger that it met."""

    id: UUID
    published_at: datetime
    deliveries: tuple[Delivery, ...] = ()
