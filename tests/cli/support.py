"""The command line in this process, and as processes of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from typer import testing

from postmill.cli.tree import app

# Typer builds the whole tree for each call, which takes longer than most commands.
testing._get_command = cache(testing._get_command)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Answer:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout as the one JSON document that it must be."""
        return json.loads(self.out)


def cli(
    *words: str, dsn: str | None = None, stdin: str | None = None, env: Mapping[str, str] | None = None
) -> Answer:
    """Run a command in this process."""
    variables = {name: None for name in os.environ if name.startswith("POSTMILL_") and "_TEST_" not in name}
    given: dict[str, str | None] = {**variables, "COLUMNS": "200", **(env or {})}
    if dsn is not None:
        given["POSTMILL_DATABASE_URL"] = dsn
    result = testing.CliRunner().invoke(app, list(words), input=stdin, env=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)
