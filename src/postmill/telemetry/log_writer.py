"""Where lines go: JSON objects for machines, coloured text for people, on a given stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TextIO

import orjson
import structlog

from postmill.telemetry.log_lines import ALIASES

Format = Literal["auto", "json", "console"]
_DOUBLE = frozenset(ALIASES.values())
FORMATS = ("auto", "json", "console")


class LineWriter:
    """Writes one line per call, safe from any thread.

    `format` auto is console on a terminal, else JSON. `bind` are fields that each line gets. Colours are used
    on a terminal, unless `colors` says otherwise. Raises ValueError for an unknown format.
    """

    def __init__(
        self,
        stream: TextIO,
        format: Format = "auto",
        *,
        bind: Mapping[str, object] | None = None,
        colors: bool | None = None,
    ) -> None:
        if format not in FORMATS:
            raise ValueError(f"unknown log format {format!r}: there is {', '.join(FORMATS)}")
        terminal = stream.isatty()
        self._bind = dict(bind or {})
        self._out = structlog.WriteLogger(stream)
        self._stamp = structlog.processors.TimeStamper(fmt="iso", utc=True)
        self._console: structlog.dev.ConsoleRenderer | None = None
        if format == "console" or (format == "auto" and terminal):
            self._console = structlog.dev.ConsoleRenderer(
                colors=terminal if colors is None else colors, sort_keys=False, pad_event_to=20
            )

    def __call__(self, level: str, event: str, line: Mapping[str, Any]) -> None:
        """Write a line; what `line` holds must be fit to be seen."""
        head = {**self._stamp(None, level, {}), "level": level, "event": event}
        whole = {**head, **self._bind, **line, **head}
        if self._console is None:
            self._out.msg(orjson.dumps(whole, default=str).decode())
            return
        shown = {name: value for name, value in whole.items() if value is not None and name not in _DOUBLE}
        shown["event"] = event.replace("\n", "\\n")  # the renderer quotes all values but this one
        self._out.msg(str(self._console(None, level, shown)))
