"""Console blocks: commands after `$ `, what they print below, and `^C` for Ctrl-C in the other terminal.

`postmill up`, `worker`, `upkeep` and `server` go on in the background, as in a terminal of their own, until `^C` or the end of
the page. Commands that only look are repeated until they show what the page shows: jobs take their time. `postmill`
and `python` run in forks of the zygote; anything else, and lines with pipes, in bash.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from tests.support import desk
from tests.support.docs.matching import Ids, match, substituted
from tests.support.eventually import eventually
from tests.support.spawner import Spawned, Spawner

NOTEBOOK = "tests.support.docs.notebook"
LASTING = frozenset({"up", "worker", "upkeep", "server"})
LOOKS = re.compile(r"postmill [a-z]+ (?:list|show)\b")
_SETS = ("export ", "set -a;", "source ", "unset ")
_VARIABLE = re.compile(r"([A-Z_][A-Z0-9_]*)=(.*)", re.DOTALL)
_SHELL = re.compile(r"[|<>;&$`*]")
_QUOTED = re.compile(r"'[^']*'")
PATIENCE = 120.0
"""Seconds for a first `postmill up` on a busy machine."""

PATIENCE_FOR_A_LOOK = 60.0
PAUSE = 0.3
"""Seconds between two looks, each of which is a process: whom it waits for needs the processor, too."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command (or `^C`) and what it shall print; None: whatever it likes."""

    command: str
    expected: str | None


def steps_of(text: str) -> list[Step]:
    """The steps of a block. A line that ends with a backslash goes on in the next."""
    made: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if made and made[-1][0].endswith("\\") and not made[-1][1]:
            made[-1] = (f"{made[-1][0]}\n{line}", [])
        elif line.startswith("$ ") or line == "^C":
            made.append((line.removeprefix("$ "), []))
        elif made:
            made[-1][1].append(line)
        elif line.strip():
            raise AssertionError(f"output without a command: {line!r}")
    return [Step(command, "\n".join(lines) if any(lines) else None) for command, lines in made]


class Console:
    """The terminals of one page."""

    def __init__(self, spawner: Spawner, folder: Path, env: Mapping[str, str], ids: Ids) -> None:
        self._spawner = spawner
        self._env = dict(env)
        self._ids = ids
        self._code = 0
        self._background: list[Spawned] = []
        self.folder = folder

    def run(self, text: str) -> None:
        """Every step of a block, in order.

        Raises:
            AssertionError: a command failed though the page does not say so, or printed something else.
        """
        steps = steps_of(text)
        for step, after in zip(steps, [*steps[1:], None], strict=True):
            tells_code = after is not None and after.command == "echo $?"
            self._step(step, may_fail=tells_code or "error: " in (step.expected or ""))

    def drain(self) -> None:
        """Stop what still runs in the background. Raises AssertionError where it does not end with 0."""
        for process in self._background:
            process.signal(signal.SIGTERM)
        codes = [process.wait() for process in self._background]
        assert not any(codes), "\n".join(f"{one.name}: {one.code}\n{one.output}" for one in self._background)

    def close(self) -> None:
        """Leave nothing behind."""
        for process in self._background:
            process.close()
        self._background.clear()

    def _step(self, step: Step, *, may_fail: bool) -> None:
        if step.command == "^C":
            self._interrupt(step.expected)
        elif step.command == "echo $?":
            self._compare(step, f"{self._code}\n")
        elif step.command.startswith("cd "):
            self.folder = self.folder / step.command.removeprefix("cd ").strip()
            assert self.folder.is_dir(), step.command
        elif step.command.startswith(_SETS):
            self._set(step.command)
        else:
            self._command(Step(substituted(step.command, self._ids), step.expected), may_fail=may_fail)

    def _command(self, step: Step, *, may_fail: bool) -> None:
        line = step.command
        env, words = _variables(self._env, shlex.split(line, comments=True))
        if words[0] == "postmill" and words[1] in LASTING and "--help" not in words:
            self._start(Step(line, step.expected), words, env)
            return
        deadline = monotonic() + (PATIENCE_FOR_A_LOOK if LOOKS.match(line) else 0.0)
        while True:
            output = self._output(line, words, env)
            fine = self._code == 0 or may_fail
            if fine and (step.expected is None or match(step.expected, output, self._ids)):
                return
            if monotonic() > deadline:
                break
            sleep(PAUSE)
        assert fine, f"$ {line}\n{output}\n(exit code {self._code})"
        self._compare(step, output)

    def _output(self, line: str, words: list[str], env: Mapping[str, str]) -> str:
        process = self._spawned(line, words, env)
        try:
            self._code = process.wait()
            return process.output
        finally:
            process.close()

    def _set(self, line: str) -> None:
        """What a shell would remember."""
        process = self._shell(f"set -e\n{line}\nenv -0", self._env)
        try:
            assert process.wait() == 0, f"$ {line}\n{process.output}"
            entries = dict(entry.split("=", 1) for entry in process.output.split("\0") if "=" in entry)
        finally:
            process.close()
        self._env = {name: value for name, value in entries.items() if name != desk.NAME}

    def _spawned(self, line: str, words: list[str], env: Mapping[str, str]) -> Spawned:
        if not _SHELL.search(_QUOTED.sub("", line)):
            if words[0] == "postmill":
                return self._spawner.start(words, self.folder, env)
            if words[0] == "python" and words[1].endswith(".py"):
                return self._spawner.start(
                    words[1:], self.folder, env, module=NOTEBOOK, function="run_script"
                )
        return self._shell(line, env)

    def _shell(self, line: str, env: Mapping[str, str]) -> Spawned:
        words = ["bash", "-c", line]
        return self._spawner.start(
            words, self.folder, env, module=NOTEBOOK, function="run_program", desk=True
        )

    def _start(self, step: Step, words: list[str], env: Mapping[str, str]) -> None:
        process = self._spawner.start(words, self.folder, env)
        self._background.append(process)
        processes = int(words[words.index("--processes") + 1]) if "--processes" in words else 1

        def ready() -> bool:
            code = process.poll()
            assert code is None, f"$ {step.command}\n{process.output}\n(exit code {code})"
            if words[1] == "up":
                return "\nready;" in process.output
            if words[1] == "server":
                return "API at " in process.output
            return process.output.count("worker_started") >= processes

        eventually(ready, PATIENCE, f"start of {step.command}")
        if step.expected is not None:
            self._eventually(step, process)

    def _interrupt(self, expected: str | None) -> None:
        assert self._background, "^C, and nothing runs"
        process = self._background.pop()
        try:
            mark = len(process.output)
            process.signal(signal.SIGINT)
            self._code = process.wait()
            if expected is not None:
                self._compare(Step("^C", expected), process.output[mark:])
        finally:
            process.close()

    def _eventually(self, step: Step, process: Spawned) -> None:
        """The output of what goes on: it shall look like that at some moment."""
        with contextlib.suppress(AssertionError):
            eventually(lambda: match(step.expected or "", process.output, self._ids), PATIENCE_FOR_A_LOOK)
        self._compare(step, process.output)

    def _compare(self, step: Step, output: str) -> None:
        if step.expected is not None and not match(step.expected, output, self._ids):
            shown = f"$ {step.command}\n--- the page shows\n{step.expected}\n--- it printed\n{output}"
            raise AssertionError(shown)


def _variables(env: Mapping[str, str], words: list[str]) -> tuple[dict[str, str], list[str]]:
    """`NAME=value` in front of a command, and the command."""
    made = dict(env)
    while found := _VARIABLE.fullmatch(words[0]):
        made[found[1]] = found[2]
        words = words[1:]
    return made, words
