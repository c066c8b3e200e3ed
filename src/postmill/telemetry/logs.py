"""Logs as one subscriber: each event is one line.

It configures nothing global; whoever owns the process subscribes it and chooses the stream.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TextIO

from postmill.domain.suggest import did_you_mean
from postmill.telemetry.bus import Bus, limit_of
from postmill.telemetry.event import Event, JobEvent
from postmill.telemetry.events import ALL_EVENTS, JobFailed
from postmill.telemetry.log_limit import LineLimit
from postmill.telemetry.log_lines import HOT, LEVELS, level_of, line_of
from postmill.telemetry.log_writer import Format, LineWriter

LINES_PER_SECOND = 200
"""Lines a second of one event and job type; the next that is written tells how many were `suppressed`."""


class LogSubscriber:
    """Writes a line for each event of `event_types`. Made by `log_subscriber`."""

    def __init__(self, write: LineWriter, level: int, sample: float, limit: LineLimit) -> None:
        self._write = write
        self._level = level
        self._share = sample
        self._limit_of_sample = limit_of(sample)
        self._limit = limit
        self.event_types = tuple(known for known in ALL_EVENTS if self._may_write(known))
        """What it wants: events below its level are never built for it, unless they are sampled."""

    def subscribe(self, bus: Bus) -> Callable[[], None]:
        """Subscribe to `event_types`; the answer ends it. Sampled ones are built for the sampled jobs only."""
        whole = [known for known in self.event_types if self._whole(known)]
        sampled = [known for known in self.event_types if not self._whole(known)]
        ends = [bus.subscribe(self, *whole)] if whole else []
        if sampled:
            ends.append(bus.subscribe(self, *sampled, share=self._share))

        def end() -> None:
            for one in ends:
                one()

        return end

    def __call__(self, event: Event) -> None:
        level = _level(event)
        if LEVELS[level] < self._level and not self._sampled(event):
            return
        kind = f"{event.name} {event.job_type}" if isinstance(event, JobEvent) else event.name
        held = self._limit.admit(kind)
        if held is not None:
            line = line_of(event)
            self._write(level, event.name, {**line, "suppressed": held} if held else line)

    def _may_write(self, known: type[Event]) -> bool:
        return self._whole(known) or (known in HOT and self._share > 0)

    def _whole(self, known: type[Event]) -> bool:
        """Whether its lines are written of every job."""
        return LEVELS["error" if known is JobFailed else level_of(known)] >= self._level

    def _sampled(self, event: Event) -> bool:
        return isinstance(event, HOT) and event.job_id.bytes[14:] < self._limit_of_sample


def _level(event: Event) -> str:
    """A failure that is tried again is a warning, the last one an error."""
    return "error" if isinstance(event, JobFailed) and not event.will_retry else level_of(type(event))


def log_subscriber(
    stream: TextIO,
    format: Format = "auto",
    level: str = "info",
    sample: float = 0.0,
    *,
    bind: Mapping[str, object] | None = None,
    colors: bool | None = None,
    per_second: int = LINES_PER_SECOND,
    clock: Callable[[], float] = time.monotonic,
) -> LogSubscriber:
    """A subscriber that writes to `stream`; `.subscribe(bus)` connects it.

    `format`, `bind` and `colors` are those of `LineWriter`. `level` is the least that is written: debug,
    info, warning or error; lines of the hot path (claimed, started, completed, …) are debug. `sample` is
    the share of jobs, 0 to 1, whose hot lines are written at any level.

    Raises ValueError for an unknown format or level, or a share outside [0, 1].
    """
    least = LEVELS.get(level.lower())
    if least is None:
        raise ValueError(f"unknown log level {level!r}{did_you_mean(level, LEVELS, noun='levels')}")
    if not 0.0 <= sample <= 1.0:
        raise ValueError(f"sample is a share from 0 to 1, not {sample!r}")
    writer = LineWriter(stream, format, bind=bind, colors=colors)
    return LogSubscriber(writer, least, sample, LineLimit(per_second, clock))
