"""How the program ended, and how that crosses the control socket."""

from __future__ import annotations

from collections.abc import Sequence

from .launch import number
from .tail import Tail


class Ending:
    """Attributes:

    exit_code, signal: one of them is set: how the program itself ended.
    timed_out, stopped: what made the guard send the first SIGTERM, if it did; never both.
    seconds: from exec to the end of the program.
    out, err: the tails.
    """

    __slots__ = ("err", "exit_code", "out", "seconds", "signal", "stopped", "timed_out")

    def __init__(
        self,
        exit_code: int | None,
        signal: int | None,
        *,
        timed_out: bool,
        stopped: bool,
        seconds: float,
        out: Tail,
        err: Tail,
    ) -> None:
        self.exit_code = exit_code
        self.signal = signal
        self.timed_out = timed_out
        self.stopped = stopped
        self.seconds = seconds
        self.out = out
        self.err = err

    def fields(self) -> list[bytes]:
        """For an ENDED frame."""
        return [
            number(self.exit_code),
            number(self.signal),
            number(int(self.timed_out)),
            number(int(self.stopped)),
            number(self.seconds),
            number(self.out.total),
            self.out.data,
            number(self.err.total),
            self.err.data,
        ]

    @classmethod
    def of(cls, fields: Sequence[bytes]) -> Ending:
        """From an ENDED frame."""
        exit_code, signal, timed_out, stopped, seconds, out_total, out, err_total, err = fields
        return cls(
            int(exit_code) if exit_code else None,
            int(signal) if signal else None,
            timed_out=timed_out == b"1",
            stopped=stopped == b"1",
            seconds=float(seconds),
            out=Tail(len(out), out, int(out_total)),
            err=Tail(len(err), err, int(err_total)),
        )
