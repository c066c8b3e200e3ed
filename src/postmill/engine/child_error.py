"""An exception on its way from a child process: described there, brought to life again in the worker.

Nothing is pickled: an exception may not bear it, and unpickling runs code of the very job that was to be isolated.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from postmill.domain import signals
from postmill.domain.classify import Classifier, ErrorVerdict, classify
from postmill.domain.error_facts import leaves
from postmill.domain.error_names import error_class_of
from postmill.domain.error_record import ErrorRecord
from postmill.domain.errors import Fault, Undecodable
from postmill.domain.text import clean
from postmill.engine.child_spec import ChildResult

_MOST_BASES = 20
_KINDS: dict[str, type[signals.Signal] | type[signals.Canceled]] = {
    "retry": signals.Retry,
    "snooze": signals.Snooze,
    "cancel": signals.Cancel,
    "bury": signals.Bury,
    "fail": signals.Fail,
    "deferred": signals.BudgetDeferred,
    "exhausted": signals.BudgetExhausted,
    "canceled": signals.Canceled,
}


class RemoteError(Exception):
    """Stands for an exception of a child process.

    Its class is a subclass that bears the names of the original's class and bases, so that policies and rules by name
    fit it. `str()` is the original's message; `retryable` is the verdict of the job type's classifier, which saw the
    original; `status_code`, `retry_after`, `errno` and `code` are as the original had them, or missing.
    """

    retryable: bool


class RemoteStack(Exception):
    """The stack of an exception of a child process, as text; the cause of a RemoteError."""


def describe(error: BaseException, classifier: Classifier | None) -> dict[str, Any]:
    """An exception as JSON can carry it, bounded and storable. Never raises, whatever the exception does.

    Keys: error_class, error_code, message, stack, status (as in ErrorRecord); retryable, retry_after (as in
    ErrorVerdict); bases: names of its classes as pairs of module and name, nearest first; attributes: status_code,
    retry_after, errno and code, where present; faults: of an Undecodable.
    """
    try:
        verdict = classify(error, now=datetime.now(UTC), classifier=classifier)
        record = ErrorRecord.of(error, verdict)
    except BaseException as fault:
        name = error_class_of(error)
        verdict = ErrorVerdict(True, name)
        record = ErrorRecord(name, message=f"(the error cannot be read: {type(fault).__name__})")
    described = {
        **as_dict(record),
        "retryable": verdict.retryable,
        "retry_after": verdict.retry_after,
        "bases": [[cls.__module__, cls.__qualname__] for cls in _own_bases(error)],
        "attributes": _attributes(error, verdict),
    }
    if isinstance(error, Undecodable):
        described["faults"] = [[clean(fault.path, 300), clean(fault.why, 300)] for fault in error.faults]
        described["job_type"] = error.job_type
    return described


def describe_signal(error: BaseException) -> dict[str, Any] | None:
    """What the exception decides, if it is one of `domain.signals`, or a group that holds one; else None."""
    decisive = next(
        (leaf for leaf in leaves(error) if isinstance(leaf, signals.Signal | signals.Canceled)), None
    )
    if decisive is None:
        return None
    kind = next((kind for kind, cls in _KINDS.items() if isinstance(decisive, cls)), "fail")
    return {"kind": kind, "reason": clean(decisive.reason, 4096), "after": getattr(decisive, "after", None)}


def as_dict(record: ErrorRecord) -> dict[str, Any]:
    """The fields of an error record."""
    return {
        "error_class": record.error_class,
        "error_code": record.error_code,
        "message": record.message,
        "stack": record.stack,
        "status": record.status,
        "frame": record.frame,
    }


def record_of(result: ChildResult) -> ErrorRecord | None:
    """The error of a child as it is stored, with the child's own stack; None without an error."""
    error = result.error
    if error is None:
        return None
    return ErrorRecord(
        str(error["error_class"]),
        error.get("error_code"),
        str(error["message"]),
        error.get("stack"),
        error.get("status"),
        str(error.get("frame") or ""),
    )


def revive(result: ChildResult) -> BaseException | None:
    """What the handler raised, as an exception that `classify` and `decide` treat as they would the original."""
    decided, error = result.signal_outcome, result.error
    if decided is not None:
        return _signal(decided)
    if error is None:
        return None
    if "faults" in error:
        return Undecodable(str(error.get("job_type")), [Fault(path, why) for path, why in error["faults"]])
    cls: type[RemoteError] = RemoteError
    for module, qualname in reversed(error.get("bases") or [["builtins", error["error_class"]]]):
        cls = type(qualname.rpartition(".")[2], (cls,), {"__module__": module, "__qualname__": qualname})
    made = cls(str(error["message"]))
    made.retryable = bool(error.get("retryable", True))
    for name, value in (error.get("attributes") or {}).items():
        setattr(made, name, value)
    if error.get("stack"):
        made.__cause__ = RemoteStack(f"in the child process:\n{error['stack']}")
    return made


def _signal(decided: Mapping[str, Any]) -> BaseException:
    kind, reason, after = decided["kind"], str(decided.get("reason") or ""), decided.get("after")
    if kind == "snooze":
        return signals.Snooze(after or 0.0, reason)
    if kind == "retry":
        return signals.Retry(reason, after)
    return _KINDS[kind](reason)


def _own_bases(error: BaseException) -> list[type]:
    return [cls for cls in type(error).__mro__ if cls not in (object, BaseException, Exception)][:_MOST_BASES]


def _attributes(error: BaseException, verdict: ErrorVerdict) -> dict[str, Any]:
    """What `classify` looks for on an exception. HTTP status and code have gone through the verdict already."""
    found: dict[str, Any] = {"status_code": verdict.status, "retry_after": verdict.retry_after}
    try:
        number = getattr(error, "errno", None)
    except BaseException:  # a property of the job's own, which may do anything
        number = None
    name = errno.errorcode.get(number) if isinstance(number, int) else None
    if name is not None:
        found["errno"] = number
    if verdict.error_code != name:
        found["code"] = verdict.error_code
    return {name: value for name, value in found.items() if value is not None}
