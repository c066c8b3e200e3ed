"""The processes that a case starts, seen from its own: all get an order, all get ready, all are ended."""

from __future__ import annotations

import json
import selectors
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from time import monotonic
from types import TracebackType
from typing import Any, Self

from postmill.bench.case import BenchError

READY_WITHIN = 60.0
ENDED_WITHIN = 30.0
Message = dict[str, Any]


class Fleet:
    """Processes of `module` (`python -m`), one for each order. A context manager: leaving it ends them all."""

    def __init__(self, module: str, orders: Sequence[Message]) -> None:
        self._module = module
        self._orders = orders
        self._processes: list[subprocess.Popen[bytes]] = []
        self._selector = selectors.DefaultSelector()
        self._rests: list[bytes] = [b""] * len(orders)
        self._ended: set[int] = set()

    def __enter__(self) -> Self:
        argv = [sys.executable, "-m", self._module]
        try:
            for number, order in enumerate(self._orders):
                process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
                self._processes.append(process)
                assert process.stdout is not None
                self._selector.register(process.stdout, selectors.EVENT_READ, number)
                self._send(process, json.dumps(order))
            self._await_ready()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._end()

    def tell(self, word: str) -> None:
        """Say `go` or `stop` to all."""
        for process in self._processes:
            self._send(process, word)

    def messages(self, within: float) -> Iterator[tuple[int, Message]]:
        """What they say, with who says it. BenchError: one of them ended, or all kept silent for `within` s."""
        heard_at = monotonic()
        while True:
            heard = list(self._read(max(0.0, heard_at + within - monotonic())))
            if not heard and monotonic() > heard_at + within:
                raise BenchError(f"no progress within {within:.0f} s: {self._module} hangs")
            for number, message in heard:
                heard_at = monotonic()
                yield number, message

    def listen(self, seconds: float) -> list[Message]:
        """What they say within so many seconds; their pipes must not fill up while a case does something else."""
        heard = []
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            heard += [message for _, message in self._read(left)]
        return heard

    def stop(self) -> list[Message]:
        """Say `stop` and wait for everybody's last message, which has `ended`."""
        self.tell("stop")
        return self.last("ended")

    def last(self, key: str, within: float = ENDED_WITHIN) -> list[Message]:
        """Wait until everybody has said something with this key; what that was. BenchError as in `messages`."""
        found: dict[int, Message] = {}
        if self._processes:
            for number, message in self.messages(within):
                if key in message:
                    found[number] = message
                    if len(found) == len(self._processes):
                        break
        return [found[number] for number in sorted(found)]

    def _await_ready(self) -> None:
        ready = 0
        for _, message in self.messages(READY_WITHIN):
            ready += "ready" in message
            if ready == len(self._processes):
                return

    def _read(self, timeout: float) -> Iterator[tuple[int, Message]]:
        for key, _ in self._selector.select(timeout):
            number: int = key.data
            data = key.fileobj.read(65536)  # type: ignore[union-attr]
            if not data:
                self._selector.unregister(key.fileobj)
                if number in self._ended:
                    continue
                code = self._processes[number].wait(ENDED_WITHIN)
                raise BenchError(f"a process of {self._module} ended too early, with exit status {code}")
            *lines, self._rests[number] = (self._rests[number] + data).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if "ended" in message:
                    self._ended.add(number)
                yield number, message

    def _send(self, process: subprocess.Popen[bytes], line: str) -> None:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # its end is told by its output
            process.stdin.write(line.encode() + b"\n")

    def _end(self) -> None:
        """The end of their input ends them; who does not follow is killed."""
        for process in self._processes:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            process.stdout.close()
        for process in self._processes:
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._selector.close()
