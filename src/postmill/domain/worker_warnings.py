"""What is to be said of workers before somebody asks. Source: the design of the console, page 10."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

SKEW = 2.0
"""Seconds by which a worker's clock may be off."""

LONG = 600.0
"""Seconds for which all slots may be taken, or a drain may last, without a word."""


class Warning(StrEnum):
    """Kinds of warnings."""

    STALE = "stale"
    OLD_BUILD = "old_build"
    SKEW = "skew"
    FULL = "full"
    DRAINING_LONG = "draining_long"


@dataclass(frozen=True, slots=True)
class Session:
    """What warnings are made of.

    Attributes:
        state: running | draining | stopped | lost.
        stale: lost, and nobody closed it cleanly.
        build: what its application calls the code that it runs; None: it says nothing of that.
        codes: what it runs, by job type: a fingerprint of the code, or the version of a command.
    """

    started_at: datetime
    state: str
    stale: bool
    version: str
    codes: Mapping[str, Any]
    skew_seconds: float | None
    full_since: datetime | None
    draining_since: datetime | None
    build: str | None = None


def warnings_of(one: Session, live: Iterable[Session], now: datetime) -> list[Warning]:
    """The warnings of a session beside those that live."""
    if one.stale:
        return [Warning.STALE]
    if one.state not in ("running", "draining"):
        return []
    found = []
    if old_build(one, live):
        found.append(Warning.OLD_BUILD)
    if one.skew_seconds is not None and abs(one.skew_seconds) > SKEW:
        found.append(Warning.SKEW)
    if one.full_since is not None and (now - one.full_since).total_seconds() > LONG:
        found.append(Warning.FULL)
    if one.draining_since is not None and (now - one.draining_since).total_seconds() > LONG:
        found.append(Warning.DRAINING_LONG)
    return found


def old_build(one: Session, live: Iterable[Session]) -> bool:
    """Whether somebody who started later runs another code of the same job type, or another version of Postmill or
    build of the application."""
    for other in live:
        if other.started_at > one.started_at and other.state in ("running", "draining"):
            if other.version != one.version:
                return True
            shared = one.codes.keys() & other.codes.keys()
            if shared and other.build is not None and other.build != one.build:
                return True
            if any(one.codes[key] != code for key, code in other.codes.items() if key in shared):
                return True
    return False
