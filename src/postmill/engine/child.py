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
import resource
import socket
import sys
from collections.abc import Callable
from typing import Any

from postmill.domain.errors import DefinitionError
from postmill.domain.registry import AnyJobType
from postmill.domain.signals import Canceled
from postmill.engine.child_error import describe, describe_signal
from postmill.engine.child_frames import receive
from postmill.engine.child_link import ChildLink
from postmill.engine.child_load import load
from postmill.engine.child_result import encode_result

# What is left for the report when a handler has used up its memory.
_RESERVE = 64 << 20


def main() -> None:
    """Never returns: no thread that a handler left behind can keep the process."""
    try:
        _main(int(sys.argv[1]))
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(1 if sys.exc_info()[0] else 0)


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
            from postmill.engine.child_context import make_context  # not needed by others, and it takes a while

            arguments[job_type.ctx_param] = make_context(spec, link)
        if link.stopping():
            raise Canceled
        link.started()
        with _memory_limit(spec["memory_limit"]):
            _run(job_type, arguments, link)
    except BaseException as error:
        if not link.is_copy():
            _answer_error(link, error, job_type)
    if not link.is_copy():
        with contextlib.suppress(Exception):
            atexit._run_exitfuncs()


def _run(job_type: AnyJobType, arguments: dict[str, Any], link: ChildLink) -> None:
    if job_type.is_async:
        asyncio.run(_coroutine(job_type, arguments, link))
    else:
        _succeed(link, job_type.fn(**arguments))


async def _coroutine(job_type: AnyJobType, arguments: dict[str, Any], link: ChildLink) -> None:
    """The answer is given as soon as the handler has ended; `asyncio.run` then ends what it left on the loop."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(job_type.fn(**arguments))
    link.on_stop = lambda: loop.call_soon_threadsafe(task.cancel)
    try:
        await asyncio.wait({task})
    finally:
        link.on_stop = None
    try:
        _succeed(link, task.result())
    except asyncio.CancelledError as error:
        _answer_error(link, Canceled() if link.stopping() else error, job_type)
    except BaseException as error:
        _answer_error(link, error, job_type)


def _succeed(link: ChildLink, result: object) -> None:
    text = encode_result(result)
    link.answer({"status": "succeeded", "empty": text is None}, text or b"")


def _answer_error(link: ChildLink, error: BaseException, job_type: AnyJobType | None) -> None:
    _lift_memory_limit()
    classifier = job_type.classifier if job_type is not None else None
    answer = {"status": "raised", "error": describe(error, classifier), "signal": describe_signal(error)}
    link.answer(answer)


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


