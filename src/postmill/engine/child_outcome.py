"""From what was heard of a child, and how its process ended, to the result of the run."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from typing import Any

from postmill.domain.errors import TimedOut
from postmill.domain.text import clean
from postmill.engine.child_error import describe
from postmill.engine.child_guard.ending import Ending
from postmill.engine.child_spec import ChildResult, ProcessDied, Status
from postmill.engine.command_tails import text_of

START_SECONDS = 60.0
"""In so many seconds a child must have imported its modules and begun the handler. Only then the timeout begins."""


@dataclass(slots=True)
class Heard:
    """What a child has told so far.

    Attributes:
        started: when its handler began, by `time.monotonic`.
        settled: the job was completed in the handler's own transaction.
        fanned: steps that its success brings, as JSON.
        where: the stack of a function at the moment in which it was asked to stop.
        spoiled: something came from it that is no frame; it was killed for that.
        answer, result: its last frame, and the JSON text that came with it.
    """

    started: float | None = None
    settled: bool = False
    where: str | None = None
    fanned: str | None = None
    spoiled: bool = False
    answer: dict[str, Any] | None = None
    result: bytes | None = None


def outcome(heard: Heard, ending: Ending, pid: int, timeout: float | None, tail_bytes: int) -> ChildResult:
    """The result of a run that is over."""
    answer = heard.answer or {}
    status: Status = "died" if heard.spoiled else _status(heard.answer, ending)
    number = ending.signal
    error: dict[str, Any] | None = answer.get("error")
    if status == "died":
        # With an answer, it obeyed a SIGTERM that was not ours, and ended by itself.
        number = number if heard.answer is None else int(signal.SIGTERM)
        how = _how(number, ending.exit_code, heard.started is not None)
        error = died(f"{how}: it had written to the connection to its worker" if heard.spoiled else how)
    elif status == "timeout":
        late = TimedOut(START_SECONDS if heard.started is None or timeout is None else timeout)
        error = {**describe(late, None), "stack": error["stack"] if error else heard.where}
    return ChildResult(
        status,
        result=heard.result if status == "succeeded" else None,
        error=error,
        signal_outcome=answer.get("signal") if status == "raised" else None,
        exit_code=ending.exit_code,
        signal=number,
        pid=pid,
        stdout_tail=text_of(ending.out, tail_bytes),
        stderr_tail=text_of(ending.err, tail_bytes),
        settled=heard.settled,
        fanned=heard.fanned,
        duration=0.0 if heard.started is None else time.monotonic() - heard.started,
    )


def died(message: str) -> dict[str, Any]:
    """The error of a child that ended without an answer."""
    return {**describe(ProcessDied(clean(message, 1024)), None), "error_class": ProcessDied.__name__}


def _status(answer: dict[str, Any] | None, ending: Ending) -> Status:
    asked: Status | None = "timeout" if ending.timed_out else "canceled" if ending.stopped else None
    if answer is None:
        return asked or "died"
    if answer.get("status") == "succeeded":
        return "succeeded"
    decided = answer.get("signal")
    obeyed = answer.get("stopping") and (decided is None or decided["kind"] == "canceled")
    if obeyed and asked is not None:
        return asked
    return "died" if obeyed and decided is not None else "raised"


def _how(number: int | None, code: int | None, started: bool) -> str:
    if number is None:
        how = f"the process ended with exit code {code}"
    else:
        try:
            name = f" ({signal.Signals(number).name})"
        except ValueError:
            name = ""  # a real-time signal
        how = f"killed by signal {number}{name}"
    return how + (" before the handler gave an answer" if started else " before the handler started")
