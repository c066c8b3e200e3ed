"""Logs of this process: events, handlers and libraries in the same lines, on standard error."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

import structlog

from postmill.domain.redaction import redact, safe_text
from postmill.domain.settings import LogSettings
from postmill.telemetry.bus import Bus
from postmill.telemetry.event import Event
from postmill.telemetry.log_bridges import StandardHandler
from postmill.telemetry.log_lines import LEVELS
from postmill.telemetry.log_writer import LineWriter
from postmill.telemetry.logs import log_subscriber

QUIET = ("psycopg", "psycopg.pool", "asyncio", "httpx", "httpcore", "urllib3", "uvicorn", "uvicorn.error")
"""Loggers of libraries that are told only from warnings up, unless the level is debug."""


def configure_logs(
    settings: LogSettings,
    bus: Bus,
    *,
    bind: dict[str, object] | None = None,
    untold: Sequence[type[Event]] = (),
) -> None:
    """Owns the process's logging: the root logger, structlog's defaults, and the events of `bus`.

    Of the kinds in `untold` the first event has no line.
    """
    writer = LineWriter(sys.stderr, settings.format, bind=bind)
    level = LEVELS[settings.level]
    root = logging.getLogger()
    root.handlers[:] = [StandardHandler(writer)]
    root.setLevel(level)
    if level > logging.DEBUG:
        for name in QUIET:
            logging.getLogger(name).setLevel(max(level, logging.WARNING))
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, _line_of(writer)],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        context_class=dict,
        cache_logger_on_first_use=False,
    )
    tell = log_subscriber(sys.stderr, settings.format, settings.level, bind=bind)
    left = set(untold)

    def write(event: Event) -> None:
        if type(event) in left:
            left.discard(type(event))
        else:
            tell(event)

    bus.subscribe(write if left else tell, *tell.event_types)


def _line_of(write: LineWriter) -> Callable[[Any, str, MutableMapping[str, Any]], str]:
    def processor(_: Any, method: str, line: MutableMapping[str, Any]) -> str:
        event = safe_text(str(line.pop("event", "")))
        failed = line.pop("exc_info", None)
        fields = {safe_text(str(name)): redact(value, key=str(name)) for name, value in line.items()}
        if failed:
            error = sys.exception() if failed is True else failed
            fields["exception"] = safe_text(f"{type(error).__name__}: {error}")
        level = {"warn": "warning", "exception": "error", "critical": "error"}.get(method, method)
        write(level if level in LEVELS else "info", event, fields)
        raise structlog.DropEvent

    return processor
