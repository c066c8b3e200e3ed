"""An error in the form in which it is stored: always storable, always bounded (cases 51 and 69)."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from types import TracebackType

from postmill.domain.classify import ErrorVerdict, classify
from postmill.domain.own_frame import own_frame
from postmill.domain.redaction import redacted_text
from postmill.domain.text import clean

MESSAGE_BYTES = 16 * 1024
STACK_BYTES = 32 * 1024
NAME_BYTES = 256


_CALLERS = ("postmill.engine.", "concurrent.futures.", "asyncio.")


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """Class, code, message (≤ 16 KiB), stack (≤ 32 KiB) and HTTP status of an error.

    NUL and lone surrogates become U+FFFD; of longer text head and tail are kept. What looks like a secret in message
    and stack is hidden. `frame` is the user's own code that it came from, as `module:function`.
    """

    error_class: str
    error_code: str | None = None
    message: str = ""
    stack: str | None = None
    status: int | None = None
    frame: str = ""

    def __post_init__(self) -> None:
        fields = (("error_class", NAME_BYTES), ("error_code", NAME_BYTES), ("message", MESSAGE_BYTES))
        for name, limit in (*fields, ("stack", STACK_BYTES), ("frame", NAME_BYTES)):
            value = getattr(self, name)
            if value is not None:
                value = clean(value, limit)
                if name in ("message", "stack") and (shown := redacted_text(value)) != value:
                    value = clean(shown, limit)
                object.__setattr__(self, name, value)

    @classmethod
    def of(cls, error: BaseException, verdict: ErrorVerdict | None = None) -> ErrorRecord:
        """The record of an exception. Never raises, not even for an exception whose own `str()` does."""
        verdict = verdict or classify(error)
        return cls(
            verdict.error_class,
            verdict.error_code,
            _message(error),
            _stack(error),
            verdict.status,
            _frame(error),
        )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as fault:
        return f"(the message cannot be read: {type(fault).__name__})"


def _frame(error: BaseException) -> str:
    try:
        return own_frame(error.__traceback__)
    except Exception:  # a module's globals may be anything
        return ""


def _from_handler(error: BaseException) -> BaseException:
    """The error with its stack beginning at the handler: a reader wants none of the frames that called it."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None and _ours(frame):
        frame = frame.tb_next
    return error.with_traceback(frame)


def _ours(frame: TracebackType) -> bool:
    module = frame.tb_frame.f_globals.get("__name__", "")
    return str(module).startswith(_CALLERS)


def _stack(error: BaseException) -> str | None:
    if error.__traceback__ is None and error.__cause__ is None and error.__context__ is None:
        return None
    try:
        return "".join(traceback.TracebackException.from_exception(_from_handler(error)).format())
    except Exception as fault:
        return f"(the stack cannot be read: {type(fault).__name__})"
