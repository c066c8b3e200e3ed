"""Errors of the command line itself, and what people are told of any."""

from __future__ import annotations

from dataclasses import dataclass

from postmill.cli.exits import ExitCode
from postmill.domain.errors import PostmillError


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is told about an error. `kind` is its stable name in JSON output."""

    code: ExitCode
    kind: str
    message: str
    hint: str = ""
    unexpected: bool = False


class CliError(PostmillError):
    """Something the command line itself has to say: `message`, what to do (`hint`), and the exit code."""

    def __init__(self, message: str, hint: str = "", code: ExitCode = ExitCode.USAGE) -> None:
        self.message = message
        self.hint = hint
        self.code = code
        super().__init__(message, hint, code)

    def __str__(self) -> str:
        return self.message

    def explained(self) -> Explanation:
        """What is told about it."""
        return Explanation(self.code, type(self).__name__, self.message, self.hint)
