"""Errors without the secrets of their own job's payload: a handler may repeat what it was given."""

from __future__ import annotations

from dataclasses import replace

from postmill.domain.error_record import ErrorRecord
from postmill.domain.outcome import Buried, Failed, Outcome, Retrying
from postmill.domain.payload import decode
from postmill.domain.redaction import redacted_text, secret_values
from postmill.engine.work import PAYLOAD, Work


def without_secrets(work: Work, outcome: Outcome) -> Outcome:
    """The outcome, its error free of what the payload holds under keys that name secrets. Looked for only in failures."""
    if not isinstance(outcome, Retrying | Failed | Buried) or work.handler is None:
        return outcome
    values = secrets_of(work)
    return replace(outcome, error=unsaid(outcome.error, values)) if values else outcome


def secrets_of(work: Work) -> set[str]:
    """What the job's payload holds under keys that name secrets."""
    handler = work.handler
    assert handler is not None
    payload: bytes | None = work.row[PAYLOAD]
    if payload is None:
        return set()
    try:
        opened = payload[1:] if handler.guard is None else handler.guard.opened(work)
        return secret_values(decode(opened), handler.type.secret_keys)
    except Exception:
        return set()  # what nobody could read, the handler could not repeat


def unsaid(error: ErrorRecord, values: set[str]) -> ErrorRecord:
    """The record without these values."""
    return replace(
        error,
        message=redacted_text(error.message, values),
        stack=None if error.stack is None else redacted_text(error.stack, values),
    )
