"""The events, which are the lines of the log."""

from __future__ import annotations

import inspect

from postmill.telemetry.event import Event
from postmill.telemetry.events import ALL_EVENTS
from postmill.telemetry.log_lines import level_of
from tests.support.reference.docstrings import for_readers
from tests.support.reference.markdown import code
from tests.support.reference.markdown import table as rows


def table() -> str:
    """Name, level and meaning of each."""
    return rows(("event", "level", "meaning"), map(_row, ALL_EVENTS))


def _row(event: type[Event]) -> tuple[str, str, str]:
    text = for_readers(inspect.getdoc(event) or "").partition("\n\n")[0]
    return code(event.name), level_of(event), text
