"""Programs that tests make for commands to run, and definitions to run them by."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection

from postmill.bind import adrive
from postmill.operate import definitions
from postmill.store.definition_rows import DefinitionView

# What the kernel has as arguments, as Latin-1 in JSON, one line a run; then whatever the test wants.
_SHOW = """#!{python} -IS
import json, os, sys
argv = open("/proc/self/cmdline", "rb").read().split(b"\\0")[3:-1]
with open({log!r}, "a") as log:
    print(json.dumps([a.decode("latin-1") for a in argv]), file=log)
{body}
"""


class Programs:
    """A folder of programs, first in PATH; each notes the arguments that it got."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def make(self, name: str, body: str = "") -> None:
        """A program in Python."""
        file = self.folder / name
        # The kernel ends an interpreter's path at the first space, and a checkout may lie below one.
        python = Path(sys.executable).resolve()
        file.write_text(_SHOW.format(python=python, log=str(self.folder / f"{name}.log"), body=body))
        file.chmod(0o755)

    def calls(self, name: str) -> list[list[str]]:
        """The arguments of each run, the program's own name left out."""
        log = self.folder / f"{name}.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


async def define(conn: AsyncConnection[Any], key: str, **fields: Any) -> DefinitionView:
    """A stored definition."""
    return await adrive(conn, definitions.create({"key": key, **fields}))
