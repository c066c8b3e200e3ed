"""Why a job ended as it did, in words: its reason and its error, each said once."""

from __future__ import annotations

from postmill.cli.text import one_line
from postmill.domain.error_names import error_class_of
from postmill.domain.outcome import REASON_BYTES
from postmill.domain.signals import Bury, Fail
from postmill.domain.text import clean

DECISIONS = frozenset(error_class_of(decision()) for decision in (Bury, Fail))
"""Classes of the errors by which a handler gives up; their text is the job's reason."""

LONGEST = 4000
"""Characters of an error, a payload, a result or a stack that a page shows; --json has all of it."""


def why(reason: str | None, error_class: str | None, message: str | None, *, longest: int = 160) -> str:
    """Reason and error on one line."""
    parts = [part for part in (reason, error_of(reason, error_class, message, longest=longest)) if part]
    return one_line(": ".join(parts), longest)


def error_of(
    reason: str | None, error_class: str | None, message: str | None, *, longest: int = LONGEST
) -> str:
    """The error on one line. Empty where a handler decided by itself, and the reason is all that it said."""
    if reason and error_class in DECISIONS and clean(message or "", REASON_BYTES) in (reason, ""):
        return ""
    return one_line(": ".join(part for part in (error_class, message) if part), longest)
