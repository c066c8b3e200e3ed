"""What a handler raises to decide its own outcome, instead of leaving it to the error rules.

    raise Retry("quota used up", after=3600)

All but `Canceled` are ordinary exceptions.
"""

from __future__ import annotations

from datetime import timedelta

from postmill.domain.duration import seconds


class Signal(Exception):
    """Base of the decisions that a handler can raise. `reason` is text for people."""

    def __init__(self, reason: str = "") -> None:
        self.reason = str(reason)
        super().__init__(self.reason)

    def __str__(self) -> str:
        return self.reason


class Retry(Signal):
    """Run again later; uses up an attempt. `after` (seconds or timedelta) replaces the policy's delay."""

    def __init__(self, reason: str = "", after: timedelta | float | None = None) -> None:
        super().__init__(reason)
        self.after = None if after is None else seconds(after, "Retry(after=…)")
        self.args = (self.reason, self.after)


class Snooze(Signal):
    """Not now: run again in `after` (seconds or timedelta). Costs no attempt."""

    def __init__(self, after: timedelta | float, reason: str = "") -> None:
        super().__init__(reason)
        self.after = seconds(after, "Snooze(after=…)")
        self.args = (self.after, self.reason)


class Cancel(Signal):
    """There is nothing left to do: the job ends `canceled`."""


class Bury(Signal):
    """Give up: the job goes to the dead letters with this reason (`permanent_error` where none is given)."""


class Fail(Signal):
    """The job ends `failed`, without retry and without a dead letter."""


class BudgetDeferred(Signal):
    """A budget lets nothing run now: the job ends as succeeded with nothing done, and the next run takes it up.

    A handler whose jobs have no next run catches it and puts its job off: `raise Snooze(3600)`.
    """


class BudgetExhausted(Signal):
    """A budget is used up: the job is given up without a retry, with the code `budget_exhausted`."""

    code = "budget_exhausted"


class Canceled(BaseException):
    """Raised by a checkpoint inside a handler whose job was canceled.

    Like `asyncio.CancelledError` it is no `Exception`, so that a handler's own `except Exception` around one
    step of many does not swallow the cancellation.
    """

    def __init__(self, reason: str = "") -> None:
        self.reason = str(reason)
        super().__init__(self.reason)

    def __str__(self) -> str:
        return self.reason or "the job was canceled"
