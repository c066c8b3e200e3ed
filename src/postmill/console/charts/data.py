"""What charts are made of: plain values that pages put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

Look = Literal[
    "series-1",
    "series-2",
    "series-3",
    "series-4",
    "series-5",
    "series-6",
    "ok",
    "warn",
    "bad",
    "grid",
    "axis",
    "so-far",
]
"""A colour, by what it means: the style sheet gives each of these classes its `color`, in every theme."""


class MarkKind(StrEnum):
    """What happened at a moment that a chart shows: its letter stands on the time axis."""

    DEPLOY = "deploy"
    PAUSE = "pause"
    REPLAY = "replay"
    WORKER_LOSS = "worker_loss"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment on the time axis. `href`: an address within the console."""

    at: datetime
    kind: MarkKind
    label: str
    href: str | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart of names."""

    label: str
    value: float
    href: str | None = None
    look: Look = "series-1"


@dataclass(frozen=True, slots=True)
class Series:
    """Values beside the moments of a chart; None: nothing was measured there."""

    name: str
    values: Sequence[float | None]
    look: Look = "series-1"


@dataclass(frozen=True, slots=True)
class Level:
    """A line across a chart: a target, or a quantile of a histogram."""

    name: str
    value: float
    look: Look = "warn"


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of a strip."""

    label: str
    look: Look
    href: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time in a row of a timeline; `until` None: it goes on."""

    since: datetime
    until: datetime | None
    label: str
    look: Look = "series-1"
    href: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a timeline."""

    name: str
    spans: Sequence[Span]
