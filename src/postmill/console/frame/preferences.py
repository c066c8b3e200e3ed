"""What somebody chose for this browser: theme, clock, single keys. In one cookie that says nothing of who it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, urlencode

from fastapi import Request
from starlette.responses import Response

COOKIE = "postmill_console"
YEAR = 365 * 86400

Theme = Literal["auto", "light", "dark"]
Clock = Literal["utc", "local"]
THEMES: tuple[Theme, ...] = ("auto", "light", "dark")
CLOCKS: tuple[Clock, ...] = ("utc", "local")
INTERVALS = (2, 5, 15, 60)
"""Seconds between updates of live parts that can be chosen."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """Attributes:
    theme: as the system says, or one of the two.
    clock: times in UTC, or as the browser's own clock has them (scripts do that).
    keys: whether single keys do something.
    live: whether parts of pages are brought up to date by themselves.
    interval: seconds between updates at the least.
    """

    theme: Theme = "auto"
    clock: Clock = "utc"
    keys: bool = True
    live: bool = True
    interval: int = 5


def read(request: Request) -> Preferences:
    """From the cookie; what is not a choice of ours is as if nothing was chosen."""
    given = {name: values[-1] for name, values in parse_qs(request.cookies.get(COOKIE, "")[:200]).items()}
    interval = given.get("interval", "")
    return Preferences(
        theme=next((one for one in THEMES if one == given.get("theme")), "auto"),
        clock=next((one for one in CLOCKS if one == given.get("clock")), "utc"),
        keys=given.get("keys") != "off",
        live=given.get("live") != "off",
        interval=int(interval) if interval in map(str, INTERVALS) else 5,
    )


def write(answer: Response, request: Request, chosen: Preferences) -> None:
    """Into the cookie, for a year."""
    value = urlencode({
        "theme": chosen.theme,
        "clock": chosen.clock,
        "keys": "on" if chosen.keys else "off",
        "live": "on" if chosen.live else "off",
        "interval": chosen.interval,
    })  # fmt: skip
    answer.set_cookie(
        COOKIE,
        value,
        max_age=YEAR,
        path=request.scope.get("root_path") or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
