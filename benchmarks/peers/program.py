"""A peer's program as a child process that speaks JSON lines."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

ANSWER_WITHIN = 120.0
END_WITHIN = 30.0


def last_words(text: str) -> str:
    """The last line that says something; command lines like to end with the foot of a frame."""
    lines = [line.strip(" │|") for line in text.splitlines()]
    return next((line for line in reversed(lines) if any(map(str.isalpha, line))), "no message")


class CaseFailed(Exception):
    """A measured case could not be brought to its end; the text says why."""


class Program:
    """Runs one command; ``async with`` ends it, by force when it does not end by itself."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = command
        self._environment = environment
        self._errors: deque[str] = deque(maxlen=20)

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._command, env=dict(self._environment), stdin=pipe, stdout=pipe, stderr=pipe
        )
        self._draining = asyncio.create_task(self._drain_errors())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            if error is not None:
                self._process.kill()
            await asyncio.wait_for(self._process.wait(), END_WITHIN)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        except ProcessLookupError:
            pass
        await self._draining

    async def _drain_errors(self) -> None:
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            self._errors.append(line.decode(errors="replace").rstrip())

    def tell(self, line: str) -> None:
        """Sends one line to the program."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())

    async def hear(self, within: float = ANSWER_WITHIN) -> dict[str, Any]:
        """The program's next JSON line.

        Raises CaseFailed when it ends or stays silent instead.
        """
        assert self._process.stdout is not None
        while True:
            try:
                line = await asyncio.wait_for(self._process.stdout.readline(), within)
            except TimeoutError:
                raise CaseFailed(f"no answer within {within:.0f} s {self.complaint()}") from None
            if not line:
                raise CaseFailed(f"the program ended early {self.complaint()}")
            if line.startswith(b"{"):
                answer: dict[str, Any] = json.loads(line)
                return answer

    async def hear_of(self, key: str) -> dict[str, Any]:
        """The next JSON line that has this key; others are passed over."""
        while key not in (answer := await self.hear()):
            pass
        return answer

    async def last_of(self, key: str) -> dict[str, Any]:
        """The last JSON line with this key before the program's end."""
        last: dict[str, Any] = {}
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(END_WITHIN):
                async for line in self._process.stdout:
                    if line.startswith(b"{") and key in (answer := json.loads(line)):
                        last = answer
        except TimeoutError:
            raise CaseFailed(f"the program did not end when told to {self.complaint()}") from None
        if not last:
            raise CaseFailed(f"the program ended without its last word {self.complaint()}")
        return last

    def complaint(self) -> str:
        """The last words of the program's standard error, in brackets."""
        return f"[{last_words(chr(10).join(self._errors))}]"


async def once(command: Sequence[str], environment: Mapping[str, str], key: str) -> dict[str, Any]:
    """Runs a command to its end and returns its answer that has this key."""
    async with Program(command, environment) as program:
        return await program.hear_of(key)
