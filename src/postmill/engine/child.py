"""`python -m postmill.engine.child FD`: runs one handler in this process, and answers over that socket.

A coroutine runs by `asyncio.run`, a function in the main thread. SIGTERM asks either to stop: the coroutine is
cancelled once and may clean up, the function finds it in `ctx.cancel_requested` and `ctx.checkpoint()`. Whoever does
not heed it is killed by the guard after the grace period. The handler's process dies with its worker: the guard
(`child_guard`) sees to that.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import os
import socket
import sys
import traceback
from functools import partial
from types import TracebackType
from typing import Any, NoReturn

from postmill.domain.registry import AnyJobType
from postmill.domain.signals import Canceled
from postmill.engine.child_error import describe, describe_signal
from postmill.engine.child_frames import receive
from postmill.engine.child_link import ChildLink
from postmill.engine.child_load import load
from postmill.engine.child_memory import lift_memory_limit, memory_limit
from postmill.engine.result import encode_result


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
        registry = load(spec["modules"])
        job_type = registry[spec["job_type"]]
        fn = job_type.fn
        arguments = job_type.bind(payload)
        if job_type.ctx_param is not None:
            from postmill.engine.child_context import make_context  # the others need no database driver
            from postmill.engine.resources import Resources

            link.worker_id = spec["context"].get("worker_id", "")
            link.log_fields = {name: arguments[name] for name in job_type.log_fields}
            resources = Resources(registry.resources)
            arguments[job_type.ctx_param] = make_context(spec, link, resources)
            if registry.resources:
                around = resources.around if job_type.is_async else resources.around_function
                fn = partial(around, job_type.fn)
        if link.stopping():
            raise Canceled
        memory_limit(spec["memory_limit"])
        link.started()
        if job_type.is_async:
            from postmill.engine.child_coroutine import run  # functions need no asyncio

            run(fn(**arguments), link, partial(_ended, link, job_type))
        else:
            _ended(link, job_type, None, fn(**arguments))
    except BaseException as error:
        _ended(link, job_type, error, None)
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()


def _ended(link: ChildLink, job_type: AnyJobType | None, error: BaseException | None, result: object) -> None:
    """The handler has returned, or raised; or it never got so far. Of several answers only the first counts."""
    if link.is_copy():
        _end_copy(error)
    lift_memory_limit()
    if error is None:
        try:
            text = encode_result(result)
        except BaseException as refused:
            error = refused
        else:
            link.answer({"status": "succeeded", "empty": text is None}, text or b"")
            return
    error.__traceback__ = _of_handler(error.__traceback__)
    classifier = job_type.classifier if job_type is not None else None
    answer = {"status": "raised", "error": describe(error, classifier), "signal": describe_signal(error)}
    link.answer(answer)


def _end_copy(error: BaseException | None) -> NoReturn:
    """A process that the handler forked off, and that came back from it, has nothing to do here."""
    if error is not None:
        with contextlib.suppress(Exception):
            traceback.print_exception(error)
    _exit(error is not None)


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


def _exit(failed: bool) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(int(failed))


if __name__ == "__main__":
    main()
