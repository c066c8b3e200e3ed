"""One page, followed from top to bottom in a folder and a database of its own.

```python title="jobs.py"    is written into the folder (as are sql, toml and json with a title), and must be importable
```python, ```pycon          run in one process and namespace per page; a text block below shows what is printed
```sql                       run by psql; a text block below shows its answer, at the latest a little later
```toml                      read as settings
```console                   see `console.py`
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

from postmill.domain.settings_load import load
from tests.support import desk
from tests.support.docs.blocks import Block, blocks_of
from tests.support.docs.console import NOTEBOOK, PATIENCE_FOR_A_LOOK, PAUSE, Console
from tests.support.docs.matching import Ids, match, substituted
from tests.support.postgres import bindir
from tests.support.spawner import LONGEST, ROOT, Spawned, Spawner

_CURL = "import sys, urllib.request as u; print(u.urlopen(sys.argv[-1]).read().decode(), end='')"

_LOOKS = re.compile(r"select (?!.*postmill\.\w+\()", re.DOTALL)
"""SQL that only looks: it calls none of our functions."""


class Page:
    """A reader who does everything that the page says. `dsn` is None where the page starts a server itself."""

    def __init__(
        self, page: Path, spawner: Spawner, folder: Path, dsn: str | None, ports: Mapping[str, int]
    ) -> None:
        self._page = page
        self._spawner = spawner
        self._ports = ports
        self._ids: Ids = {}
        self._written: set[Path] = set()
        self._notebook: tuple[Spawned, socket.socket] | None = None
        self.folder = folder
        self.env = environment(folder, dsn)
        self._console = Console(spawner, folder, self.env, self._ids)

    def follow(self) -> None:
        """Run every block, in order. Raises AssertionError that names the page and the line."""
        blocks = blocks_of(self._page)
        try:
            for block, after in zip(blocks, [*blocks[1:], None], strict=True):
                shown = after is not None and after.below and after.language == "text"
                below = after.text if after is not None and shown else None
                try:
                    self._run(self._with_ports(block), below)
                except AssertionError as fault:
                    raise AssertionError(f"{self._page.name}, line {block.line}: {fault}") from None
            self._console.drain()
            run = " ".join(block.text for block in blocks if block.language == "console")
            lines = {line for block in blocks if not block.title for line in block.text.splitlines()}
            for file in sorted(self._written):
                used = any(re.match(rf"(from|import) {file.stem}\b", line) for line in lines)
                used = used or file.parent != self.folder  # what loads it is no import
                if file.suffix == ".py" and f"python {file.name}" not in run and not used:
                    self._import(file)
        finally:
            self._close()

    def _run(self, block: Block, below: str | None) -> None:
        if block.language == "console":
            self._console.run(block.text)
        elif block.title is not None and block.language in ("python", "sql", "toml", "json"):
            self._write(block.title, block.text)
        elif block.language == "python" or block.language == "pycon":
            block = replace(block, text=substituted(block.text, self._ids))
            self._compare(self._python(block), below, block)
        elif block.language == "sql":
            self._compare(self._answer(block.text, below), below, block)
        elif block.language == "toml":
            file = self.folder / ".settings.toml"
            file.write_text(block.text, encoding="utf-8")
            load(file, env={})
        elif block.language == "json":
            json.loads(block.text)

    def _compare(self, output: str, below: str | None, block: Block) -> None:
        if below is not None and not match(below, output, self._ids):
            raise AssertionError(f"{block.text}--- the page shows\n{below}--- it printed\n{output}")

    def _write(self, name: str, text: str) -> None:
        file = self._console.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self._written.add(file)
        if name.endswith("postmill.toml"):
            load(file, env={})

    def _python(self, block: Block) -> str:
        if self._notebook is None:
            near, far = socket.socketpair()
            near.settimeout(LONGEST)
            with far:
                process = self._spawner.start(
                    ["notebook"], self.folder, self.env, module=NOTEBOOK, stdin=far.fileno()
                )
            self._notebook = process, near
        process, near = self._notebook
        order = {"language": block.language, "text": block.text, "file": str(self._page), "line": block.line}
        near.sendall(json.dumps(order).encode() + b"\n")
        with near.makefile(encoding="utf-8") as answers:
            line = answers.readline()
        assert line, f"the process of the page's Python has ended:\n{process.output}"
        answer = json.loads(line)
        assert answer["error"] is None, f"{answer['error']}{process.output}"
        return str(answer["output"])

    def _answer(self, text: str, below: str | None) -> str:
        """What the statements print; repeated for a while where that may still become what the page shows."""
        output = self._sql(text)
        deadline = monotonic() + PATIENCE_FOR_A_LOOK
        while below is not None and not match(below, output, self._ids):
            if monotonic() > deadline or not _LOOKS.match(text):
                break
            sleep(PAUSE)
            output = self._sql(text)
        return output

    def _sql(self, text: str) -> str:
        done = subprocess.run(
            ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", self.env["POSTMILL_DATABASE_URL"]],
            input=text, env=self.env, capture_output=True, text=True, cwd=self.folder, timeout=LONGEST,
        )  # fmt: skip
        assert done.returncode == 0, f"{text}{done.stdout}{done.stderr}"
        return done.stdout

    def _import(self, file: Path) -> None:
        process = self._spawner.start(
            ["import", file.stem], file.parent, self.env, module=NOTEBOOK, function="check_module"
        )
        try:
            assert process.wait() == 0, f"{self._page.name}: {process.output}"
        finally:
            process.close()

    def _with_ports(self, block: Block) -> Block:
        text = block.text
        for shown, port in self._ports.items():
            text = text.replace(shown, str(port))
        return replace(block, text=text)

    def _close(self) -> None:
        if self._notebook is not None:
            process, near = self._notebook
            near.close()
            process.close()
        self._console.close()


def environment(folder: Path, dsn: str | None) -> dict[str, str]:
    """What a reader's shell would have, and programs called postmill, python and psql (and curl, if there is none)."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("POSTMILL_", "PG"))}
    programs: dict[str, list[object]] = {
        "postmill": [sys.executable, "-m", "postmill"],
        "python": [sys.executable],
        "psql": [bindir() / "psql"],
    }
    if shutil.which("curl") is None:
        programs["curl"] = [sys.executable, "-c", _CURL]
    place = folder / ".bin"
    place.mkdir()
    at_desk = shlex.join([sys.executable, "-I", "-S", desk.__file__])
    for name, argv in programs.items():
        file = place / name
        text = f'exec {shlex.join(map(str, argv))} "$@"\n'
        if name == "postmill":
            text = f'[ -z "${desk.NAME}" ] || exec {at_desk} "$@"\n{text}'
        file.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
        file.chmod(0o755)
    kept |= {"PATH": f"{place}:{kept['PATH']}", "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"}
    # What jobs print is seen at once, as on a terminal.
    kept |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    return kept if dsn is None else {**kept, "POSTMILL_DATABASE_URL": dsn}
