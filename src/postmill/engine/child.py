"""`python -m postmill.engine.child FD`: runs one handler in this process, and answers over that socket.

A coroutine runs by `asyncio.run`, a function in the main thread. SIGTERM asks either to stop: the coroutine is
cancelled once and may clean up, the function finds it in `ctx.cancel_requested` and `ctx.checkpoint()`. Whoever does
not heed it is killed by the guard after the grace period. The handler's process dies with its worker: the guard
(`child_guard`) sees to that.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import faulthandler
import os
import socket
import sys
import traceback
from types import TracebackType
from typing import Any

from postmill.domain.registry import AnyJobType
from postmill.domain.signals import Canceled
from postmill.engine.child_error import describe, describe_signal
from postmill.engine.child_frames import receive
from postmill.engine.child_link import ChildLink
from postmill.engine.child_load import load
from postmill.engine.child_memory import lift_memory_limit, memory_limit
from postmill.engine.child_result import encode_result


def main() -> None:
    """Never returns: no thread that a handler left behind can keep the process."""
    failed = False
    try:
        _main(int(sys.argv[1]))
    except BaseException:
        failed = True
        with contextlib.suppress(Exception):  # the handler may have closed even stderr
            traceback.print_exc()
    _exit(failed)


def _main(fd: int) -> None:
    connection = socket.socket(fileno=fd)
    connection.set_inheritable(False)
    link = ChildLink(connection)
    link.listen()
    spec, payload = receive(connection)
    _prepare(spec)
    job_type: AnyJobType | None = None
    try:
        job_type = load(spec["modules"], spec["job_type"])
        arguments = job_type.bind(payload)
        if job_type.ctx_param is not None:
            from postmill.engine.child_context import make_context  # the others need no database driver

            arguments[job_type.ctx_param] = make_context(spec, link)
        if link.stopping():
            raise Canceled
        memory_limit(spec["memory_limit"])
        link.started()
        if job_type.is_async:
            asyncio.run(_coroutine(job_type, arguments, link))
        else:
            _function(job_type, arguments, link)
    except BaseException as error:
        _answer_error(link, error, job_type)
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()


def _function(job_type: AnyJobType, arguments: dict[str, Any], link: ChildLink) -> None:
    try:
        result = job_type.fn(**arguments)
    except BaseException:
        _end_copy(link)
        raise
    _end_copy(link)
    _succeed(link, result)


async def _coroutine(job_type: AnyJobType, arguments: dict[str, Any], link: ChildLink) -> None:
    """The answer is given as soon as the handler has ended; `asyncio.run` then ends what it left on the loop."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(job_type.fn(**arguments))
    link.on_stop = lambda: loop.call_soon_threadsafe(task.cancel)
    if link.stopping():
        task.cancel()
    try:
        await asyncio.wait({task})
    finally:
        link.on_stop = None
        _end_copy(link)
    try:
        _succeed(link, task.result())
    except asyncio.CancelledError as error:
        stopped = Canceled().with_traceback(error.__traceback__) if link.stopping() else error
        _answer_error(link, stopped, job_type)
    except BaseException as error:
        _answer_error(link, error, job_type)


def _succeed(link: ChildLink, result: object) -> None:
    lift_memory_limit()
    text = encode_result(result)
    link.answer({"status": "succeeded", "empty": text is None}, text or b"")


def _answer_error(link: ChildLink, error: BaseException, job_type: AnyJobType | None) -> None:
    lift_memory_limit()
    error.__traceback__ = _of_handler(error.__traceback__)
    classifier = job_type.classifier if job_type is not None else None
    answer = {"status": "raised", "error": describe(error, classifier), "signal": describe_signal(error)}
    link.answer(answer)


def _of_handler(stack: TracebackType | None) -> TracebackType | None:
    """The stack without this file's own frames at its start."""
    while stack is not None and stack.tb_frame.f_code.co_filename == __file__:
        stack = stack.tb_next
    return stack


def _prepare(spec: dict[str, Any]) -> None:
    sys.path[:] = spec["sys_path"]
    if spec["pythonpath"] is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = spec["pythonpath"]
    for stream in (sys.stdout, sys.stderr):
        # Line by line, so that a crash does not take the last words with it; and nothing that cannot be printed.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]
    faulthandler.enable()  # a segmentation fault leaves the Python stack in the tail of stderr


def _end_copy(link: ChildLink) -> None:
    """A process that the handler forked off, and that came back from it, has nothing to do here."""
    if link.is_copy():
        failed = sys.exc_info()[0] is not None
        if failed:
            with contextlib.suppress(Exception):
                traceback.print_exc()
        _exit(failed)


def _exit(failed: bool) -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(int(failed))


if __name__ == "__main__":
    main()
