"""An error in the form in which it is stored: always storable, always bounded (cases 51 and 69)."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from postmill.domain.classify import ErrorVerdict, classify
from postmill.domain.text import clean

MESSAGE_BYTES = 16 * 1024
STACK_BYTES = 32 * 1024
NAME_BYTES = 256


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """Class, code, message (≤ 16 KiB), stack (≤ 32 KiB) and HTTP status of an error.

    NUL and lone surrogates become U+FFFD; of longer text head and tail are kept.
    """

    error_class: str
    error_code: str | None = None
    message: str = ""
    stack: str | None = None
    status: int | None = None

    def __post_init__(self) -> None:
        fields = (("error_class", NAME_BYTES), ("error_code", NAME_BYTES), ("message", MESSAGE_BYTES))
        for name, limit in (*fields, ("stack", STACK_BYTES)):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, clean(value, limit))

    @classmethod
    def of(cls, error: BaseException, verdict: ErrorVerdict | None = None) -> ErrorRecord:
        """The record of an exception. Never raises, not even for an exception whose own `str()` does."""
        verdict = verdict or classify(error)
        return cls(verdict.error_class, verdict.error_code, _message(error), _stack(error), verdict.status)


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as fault:
        return f"(the message cannot be read: {type(fault).__name__})"


def _stack(error: BaseException) -> str | None:
    if error.__traceback__ is None and error.__cause__ is None and error.__context__ is None:
        return None
    try:
        return "".join(traceback.format_exception(error))
    except Exception as fault:
        return f"(the stack cannot be read: {type(fault).__name__})"
