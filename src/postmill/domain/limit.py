"""How many may run at once, and how often something may start, over the whole fleet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, cast

from postmill.domain.duration import seconds

MOST = 2**31 - 1
LONGEST_NAME = 500

Scope = Literal["queue", "type", "tenant", "all"]

_FIELD = re.compile(r"payload\.[^\s/.]+(\.[^\s/.]+)*")


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `count` starts per `per` (seconds or timedelta), of which `burst` may come at once.

    `burst` defaults to `count`. Exact over the whole fleet (GCRA). ValueError for anything that is not
    positive.
    """

    count: int
    per: float | timedelta
    burst: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "per", seconds(self.per, "Rate(per=…)", zero=False))
        for name, value in (("count", self.count), ("burst", self.burst)):
            if name == "burst" and value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"Rate({name}=…) must be a whole number of 1 or more, not {value!r}")

    @property
    def seconds(self) -> float:
        """`per` in seconds."""
        return seconds(self.per)

    @property
    def interval(self) -> float:
        """Seconds between two starts at the steady rate."""
        return self.seconds / self.count

    @property
    def capacity(self) -> int:
        """How many may start at once after a pause."""
        return self.count if self.burst is None else self.burst

    def row(self) -> dict[str, Any]:
        """As it is stored."""
        return {"count": self.count, "seconds": self.seconds, "burst": self.capacity}


@dataclass(frozen=True, slots=True)
class Limit:
    """How many jobs may run at once, how often they may start, or both: exact over the whole fleet.

    Args:
        max_running: jobs at once; None: any number.
        rate: starts per time; None: as often as there are slots.
        per: what is counted each for itself: `tenant`, `payload.<field>`, or several. Default: all together. A job without
            the field counts as one whose field is empty. A `payload` part alone counts over all tenants; with `tenant`
            before it, within each.

    Raises:
        ValueError: there is neither `max_running` nor `rate`, one is no whole number of 1 or more, or a part is none.
        TypeError: `rate` is no Rate, or `per` no text.
    """

    max_running: int | None = None
    rate: Rate | None = None
    per: str | Iterable[str] = ()

    def __post_init__(self) -> None:
        if self.max_running is None and self.rate is None:
            raise ValueError("Limit(…) needs max_running, rate or both")
        check_max_running(self.max_running)
        if self.rate is not None and not isinstance(self.rate, Rate):
            raise TypeError(f"Limit(rate=…) must be Rate(…), not {self.rate!r}")
        object.__setattr__(self, "per", check_per(self.per))

    @property
    def parts(self) -> tuple[str, ...]:
        """`per` as it was checked."""
        return cast("tuple[str, ...]", self.per)

    def row(self) -> dict[str, Any]:
        """As it is stored."""
        rate = None if self.rate is None else self.rate.row()
        return {"per": list(self.parts), "max_running": self.max_running, "rate": rate}


def check_max_running(value: object) -> None:
    """ValueError if it is neither None nor a whole number of 1 or more."""
    if value is not None and (
        not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST
    ):
        raise ValueError(f"max_running must be a whole number from 1 to {MOST}, not {value!r}")


def check_per(value: object) -> tuple[str, ...]:
    """The parts that a limit counts each for itself. ValueError for one that is none, or twice there."""
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, Iterable) or isinstance(value, Mapping | bytes):
        raise TypeError(f"per must be text or a list of texts, not {value!r}")
    parts = tuple(value)
    for part in parts:
        if not isinstance(part, str) or (part != "tenant" and not _FIELD.fullmatch(part)):
            raise ValueError(f"per: {part!r} is neither tenant nor payload.<field>")
    if len(set(parts)) < len(parts):
        raise ValueError(f"per: {'/'.join(parts)} names a part twice")
    return parts


@dataclass(frozen=True, slots=True)
class LimitName:
    """Which jobs a limit is on, and what it counts each for itself.

    As text `<scope>[:<target>][/<part>…]`: `type:greet`, `queue:mail/tenant`, `tenant:bakery`, `all/payload.host`.
    """

    scope: Scope
    target: str | None
    per: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> LimitName:
        """ValueError for what is no name of a limit, saying what one looks like."""
        # Names of types and queues may hold a slash; parts are known by what they are.
        pieces = text.split("/")
        parts: list[str] = []
        while len(pieces) > 1 and (pieces[-1] == "tenant" or pieces[-1].startswith("payload.")):
            parts.insert(0, pieces.pop())
        scope, colon, target = "/".join(pieces).partition(":")
        known = scope == "all" if not colon else scope in ("queue", "type", "tenant") and target
        if not known or len(text) > LONGEST_NAME:
            raise ValueError(
                f"{text[:100]!r} is no name of a limit; such are type:NAME, queue:NAME, tenant:SLUG and all, with parts"
                " behind: queue:mail/tenant, type:fetch/payload.host"
            )
        return cls(cast("Scope", scope), target or None, check_per(parts))

    def __str__(self) -> str:
        return "/".join([self.scope + (f":{self.target}" if self.target else ""), *self.per])
