"""The payload fields that a job type binds to the lines of the log about its jobs."""

from __future__ import annotations

from collections.abc import Mapping

from postmill.engine.work import PAYLOAD, Work


def log_fields(work: Work) -> Mapping[str, object] | None:
    """Those that the payload has; None where none are named, or the payload cannot be read."""
    handler = work.handler
    if handler is None or not handler.type.log_fields:
        return None
    try:
        bound = handler.bind(work.row[PAYLOAD][1:])
        return {name: bound[name] for name in handler.type.log_fields if name in bound}
    except Exception:
        return None
