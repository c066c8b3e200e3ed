"""The guard's life: receive the order, start, watch, clean up, report, exit."""

from __future__ import annotations

import os
import select
import signal
import sys
import time

from . import kin, scratch, wire
from .ending import Ending
from .launch import Launch
from .start import Program, start
from .watch import Watch

SWEEP = 5.0
"""Seconds in which killed orphans must be gone; one that hangs in the kernel is left then."""


def main(control: int, worker: int) -> None:
    """Run one program for the worker with this pid, under orders from this socket. Never returns."""
    try:
        _main(control, worker)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)  # sooner than by the interpreter's own end


def _main(control: int, worker: int) -> None:
    os.set_inheritable(control, False)
    gone = kin.watch_worker(worker)
    wake = _hear_children()
    order = wire.receive(control)
    if order is not None:
        report, folder = _guard(Launch.of(order[1]), control, gone, wake)
        _tell(control, report)
        _await_release(control, gone)
        # Only now: the worker may have looked at what the program left there.
        _discard(folder)


def _guard(launch: Launch, control: int, gone: int | None, wake: int) -> tuple[bytes, bytes | None]:
    """From start to end; returns the last frame, and the scratch folder."""
    kin.adopt_orphans()
    folder: bytes | None = None
    try:
        folder = scratch.make(launch.scratch_root, launch.folder) if launch.scratch_root is not None else None
        program = start(launch, folder)
    except OSError as error:
        return wire.pack(wire.REFUSED, str(error.errno).encode(), (error.strerror or "").encode()), folder
    _tell(control, wire.pack(wire.STARTED, str(program.pid).encode(), folder or b""))
    watch = Watch(launch, program, control, gone, wake)
    watch.run()
    ending = _end(watch, program, wake)
    return wire.pack(wire.ENDED, *ending.fields()), folder


def _hear_children() -> int:
    """A pipe that becomes readable when a child has ended. All other signals are not for the guard: whoever stops
    a whole container or unit stops the worker, too, and that decides."""
    wake, end = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(end, False)
    signal.set_wakeup_fd(end, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    return wake


def _end(watch: Watch, program: Program, wake: int) -> Ending:
    """Kill what is left of the program, and reap it."""
    kin.send(-program.pid, signal.SIGKILL)
    watch.look(wait=True)
    _sweep(program.pid, wake)
    watch.drain()
    kin.release(program.pid)
    return watch.ending()


def _sweep(leader: int, wake: int) -> None:
    """Each killed process leaves its children to us, until there are none."""
    until = time.monotonic() + SWEEP
    ended = select.poll()
    ended.register(wake, select.POLLIN)
    while (left := kin.children(leader)) and time.monotonic() < until:
        for pid in left:
            kin.send(pid, signal.SIGKILL)
        kin.reap(leader)
        if ended.poll(10):
            os.read(wake, 4096)


def _discard(folder: bytes | None) -> None:
    if folder is None:
        return
    try:
        scratch.remove(folder)
    except OSError as error:
        sys.stderr.write(f"postmill: a scratch folder cannot be removed: {error}\n")


def _tell(control: int, frame: bytes) -> None:
    try:
        wire.send(control, frame)
    except ConnectionError:
        return  # a worker that is gone needs no report


def _await_release(control: int, gone: int | None) -> None:
    """Exit only once the worker has closed its end, and so has the report. An order that crosses with it, left unread
    or written to nobody, would break the connection before the report is read."""
    ends = select.poll()
    for fd in (control, gone):
        if fd is not None:
            ends.register(fd, select.POLLIN)
    while True:
        for fd, _ in ends.poll():
            if fd == gone or wire.receive(control) is None:
                return
