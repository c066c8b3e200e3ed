"""The exit codes of the command line: documented, tested, and safe to write scripts on."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process says when it ends."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NO_DATABASE = 3
    SCHEMA = 4
    NOT_FOUND = 5
    TIMEOUT = 6
    RESOURCE = 7
    INTERRUPTED = 130


MEANINGS: dict[ExitCode, str] = {
    ExitCode.OK: "done; a worker: drained cleanly",
    ExitCode.FAILED: "failed: the job did not succeed, the operation was refused, doctor found a failure",
    ExitCode.USAGE: "used wrongly: option, argument, setting, queue syntax, module or payload",
    ExitCode.NO_DATABASE: "the database is not configured or not reachable",
    ExitCode.SCHEMA: "the schema is missing, has pending migrations, or is newer than this version",
    ExitCode.NOT_FOUND: "no such job, job type, queue or worker",
    ExitCode.TIMEOUT: "the time to wait is over; the job goes on",
    ExitCode.RESOURCE: "a worker could not open one of its resources",
    ExitCode.INTERRUPTED: "interrupted (128 + signal number for a worker that was ended by a second signal)",
}


def table() -> str:
    """The codes as lines of help text."""
    return "\n".join(f"{code.value:>3}  {meaning}" for code, meaning in MEANINGS.items())
