"""Jobs of definitions of kind `command`: a checked payload becomes an exact argv, and its end a report."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from postmill.artifacts.storage import Storage
from postmill.domain.arg_schema import faults
from postmill.domain.argv_render import render
from postmill.domain.errors import Fault, PayloadRefused, PostmillError, Undecodable
from postmill.domain.payload import decode
from postmill.domain.redaction import redacted_text, secret_values
from postmill.domain.text import clean
from postmill.engine.artifacts import JobArtifacts
from postmill.engine.command import ENV_ALLOW, Command, CommandResult, run_command
from postmill.engine.command_artifacts import FOLDER, collect
from postmill.engine.command_checks import CommandRefused
from postmill.engine.command_type import CommandType
from postmill.engine.reports import Report
from postmill.engine.verdict import Verdicts
from postmill.engine.work import TIMEOUT, Handler, Work

Ended = Callable[[Work, Report | None, str | None], None]

_SAID = 500  # characters of the last line of stderr that an error shows


class CommandFailed(PostmillError):
    """A command ended with another exit code than 0, or by a signal. Tried again by the definition's policy."""

    def __init__(self, program: str, exit_code: int | None, signal: int | None, said: str) -> None:
        self.exit_code = exit_code
        self.signal = signal
        self.code = f"EXIT_{exit_code}" if signal is None else f"SIGNAL_{signal}"
        super().__init__(program, exit_code, signal, said)

    def __str__(self) -> str:
        program, exit_code, signal, said = self.args
        how = f"ended with exit code {exit_code}" if signal is None else f"was killed by signal {signal}"
        return f"{program} {how}" + (f": {said}" if said else "")


class Commands:
    """Runs commands; their ends go where those of child processes go.

    Args:
        verdicts: decides what an end means.
        storage: where files go that they leave; without a store there is no folder for them.
        artifacts: makes the artifacts of a job.
        grace: seconds from SIGTERM to SIGKILL.
    """

    def __init__(
        self,
        verdicts: Verdicts,
        storage: Storage,
        artifacts: Callable[[Work], JobArtifacts],
        *,
        grace: float,
    ) -> None:
        self._verdicts = verdicts
        self._storage = storage
        self._artifacts = artifacts
        self._grace = grace
        self.ended: Ended = _unset

    async def run(self, work: Work, handler: Handler) -> None:
        """Run one job's command to its report."""
        assert work.stop is not None
        assert handler.command is not None
        try:
            payload = await handler.command.guard.admit(work)
            command, secrets = self._command(work, handler.command, payload)
            if work.stopping:
                work.stop.set()
            faults: list[Exception] = []
            result = await run_command(
                command, cancel=work.stop, collect=lambda folder: self._collect(folder, work, faults)
            )
        except Exception as error:
            self.ended(work, self._verdicts.report(work, error), None)
            return
        if work.lost:
            self.ended(work, None, None)  # whatever came of it is somebody else's job by now
            return
        if result.timed_out:
            work.why = work.why or "timeout"
        fault = faults[0] if faults else None
        self.ended(work, *self._report(work, handler, command.argv[0], result, secrets, fault))

    async def _collect(self, folder: Path, work: Work, faults: list[Exception]) -> None:
        """Keep what it left. A fault is one of the job, whose outputs and exit code are known all the same."""
        most = self._storage.settings.max_files
        try:
            await collect(folder, self._artifacts(work), most, lambda: work.stopping)
        except Exception as fault:
            faults.append(fault)

    def _command(self, work: Work, command_type: CommandType, payload: bytes) -> tuple[Command, set[str]]:
        """The program to run, and the secrets of its payload and its environment, which no report may show."""
        data = decode(payload)
        found = faults(command_type.arg_schema, data)
        if found or not isinstance(data, dict):
            raise Undecodable(command_type.key, found or [Fault("#", "is no object")])
        facts = command_type.facts(work)
        try:
            argv = render(command_type.template, command_type.arg_schema, data, facts)
            command = Command(
                tuple(argv),
                command_type.environment(facts, work),
                env_allow=(*ENV_ALLOW, *command_type.env_allow),
                timeout=work.row[TIMEOUT],
                grace=self._grace,
                folder=FOLDER if self._storage.configured else None,
            )
        except PayloadRefused as refused:
            raise Undecodable(command_type.key, [Fault(refused.path, refused.why)]) from None
        except CommandRefused as refused:
            raise Undecodable(command_type.key, [Fault("#", str(refused))]) from None
        inherited = {name: os.environ.get(name) for name in command_type.env_allow}
        return command, secret_values([data, inherited], command_type.secret_keys)

    def _report(
        self,
        work: Work,
        handler: Handler,
        program: str,
        result: CommandResult,
        secrets: set[str],
        fault: Exception | None,
    ) -> tuple[Report | None, str | None]:
        stdout, stderr = (redacted_text(tail, secrets) for tail in (result.stdout_tail, result.stderr_tail))
        if result.exit_code == 0 and fault is None and not work.stopping:
            if handler.forget:
                return None, None
            report = self._verdicts.succeeded(work)
        else:
            error = fault
            if fault is None and not work.stopping:
                said = clean(stderr.strip().rpartition("\n")[2], _SAID)
                error = CommandFailed(program, result.exit_code, result.signal, said)
            report = self._verdicts.report(work, error)
        report.exit_code, report.pid = result.exit_code, result.pid
        report.stdout_tail, report.stderr_tail = stdout, stderr
        return report, None


def _unset(work: Work, report: Report | None, text: str | None) -> None:
    raise RuntimeError("Commands.ended is not set")
