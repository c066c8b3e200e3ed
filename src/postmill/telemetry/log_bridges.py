"""What handlers and libraries log, in the same lines as events."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

from postmill.domain.redaction import field_name, redact, safe_text
from postmill.telemetry.log_lines import LEVELS, STACK_TEXT, with_aliases
from postmill.telemetry.log_writer import LineWriter

_METHODS = {**{name: name for name in LEVELS}, "warn": "warning", "exception": "error", "critical": "error"}
_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class StandardHandler(logging.Handler):
    """Writes records of the standard library's loggers, redacted; `extra` values become fields.

    It is attached to no logger here: the process's owner does that.
    """

    def __init__(self, write: LineWriter, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record. Never raises."""
        try:
            extra = {name: value for name, value in record.__dict__.items() if name not in _STANDARD}
            line = {**_fit(extra), "logger": record.name}
            if record.exc_info and record.exc_info[1] is not None:
                line["exception"] = _exception(record.exc_info[1])
            self._write(_level(record.levelno), safe_text(record.getMessage()), line)
        except Exception:
            self.handleError(record)


def structlog_options(write: LineWriter, level: str = "info") -> dict[str, Any]:
    """Options for `structlog.configure(**…)`, so that what handlers log (`ctx.log`) is written here.

    Values are redacted by key and bounded, as those of events; a line of a job gets the seeds' names too.
    """

    def processor(_: Any, method: str, line: MutableMapping[str, Any]) -> str:
        event, error = line.pop("event", ""), _error(line.pop("exc_info", None))
        fields = _fit(line)
        if error is not None:
            fields["exception"] = _exception(error)
        write(_METHODS.get(method, "info"), safe_text(str(event)), with_aliases(fields))
        raise structlog.DropEvent

    return {
        "processors": [structlog.contextvars.merge_contextvars, processor],
        "wrapper_class": structlog.make_filtering_bound_logger(LEVELS[level]),
        "context_class": dict,
        "cache_logger_on_first_use": False,
    }


def _fit(values: Mapping[str, Any]) -> dict[str, Any]:
    return {field_name(name): redact(value, key=str(name)) for name, value in values.items()}


def _error(exc_info: Any) -> BaseException | None:
    if isinstance(exc_info, BaseException):
        return exc_info
    if isinstance(exc_info, tuple):
        return exc_info[1] if len(exc_info) > 1 and isinstance(exc_info[1], BaseException) else None
    return sys.exception() if exc_info else None


def _exception(error: BaseException) -> str:
    return safe_text("".join(traceback.format_exception(error)), STACK_TEXT)


def _level(number: int) -> str:
    return max((least, name) for name, least in LEVELS.items() if least <= max(number, LEVELS["debug"]))[1]
