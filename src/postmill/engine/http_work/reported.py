"""An error that an HTTP worker tells of, as an exception that `classify` and `decide` treat like any other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """What a worker says of an error.

    Attributes:
        error_class: the name of its class, `axios.AxiosError` or `TimeoutError`; policies by class fit it.
        code: a code that it carries, such as `ECONNRESET`.
        message, stack: text.
        status: an HTTP status, 400 to 599.
        retryable: whether another attempt makes sense; None leaves it to the rules (by status).
        retry_after: seconds that somebody asked to wait.
    """

    error_class: str
    message: str = ""
    code: str | None = None
    stack: str | None = None
    status: int | None = None
    retryable: bool | None = None
    retry_after: float | None = None


class ReportedError(Exception):
    """Stands for an error in another process. Its class is a subclass with the name that the worker gave."""

    status_code: int | None = None
    code: str | None = None
    retry_after: float | None = None
    retryable: bool | None = None


def revive(report: ErrorReport) -> ReportedError:
    """The exception."""
    module, _, name = report.error_class.rpartition(".")
    if not module or not name:
        module, name = "builtins", report.error_class  # one word
    made: ReportedError = type(name, (ReportedError,), {"__module__": module, "__qualname__": name})(
        report.message
    )
    made.status_code, made.code = report.status, report.code
    made.retryable, made.retry_after = report.retryable, report.retry_after
    return made
