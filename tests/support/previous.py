"""Postmill as it was before the last migration was added: from the repository's history, where that tells."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import IO

from postmill.schema.migration import Migration, known_migrations
from tests.support.spawner import ROOT

MIGRATIONS = "src/postmill/sql/migrations"


class Previous:
    """The package of a commit, in a folder of its own.

    Where there is no history, or no commit whose migrations are those of now, and fewer (until the first release they may be
    rewritten in place), it is the package as it is without its last migration: of the schema it knows as little, of the code
    it has the newest. `commit`: None then.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "previous"
        self._folder.mkdir()
        self.commit: str | None = None
        known = known_migrations()
        if (found := _found()) is None:
            self.known: tuple[Migration, ...] = known[:-1]
            last = f"{known[-1].version:04}_{known[-1].name}.sql"
            shutil.copytree(ROOT / "src", self.source, ignore=shutil.ignore_patterns("__pycache__", last))
            return
        self.commit, count = found
        self.known = known[:count]
        archive = subprocess.Popen(["git", "archive", self.commit, "src"], cwd=ROOT, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", self._folder], stdin=archive.stdout, check=True)
        assert archive.stdout is not None
        archive.stdout.close()
        assert archive.wait() == 0

    @property
    def source(self) -> Path:
        """Where its modules are."""
        return self._folder / "src"


class Programs:
    """Programs of the package as it was. Their output goes to a file."""

    def __init__(self, previous: Previous, folder: Path, env: dict[str, str], log: IO[bytes]) -> None:
        path = os.pathsep.join((str(previous.source), str(folder)))
        self._parent = subprocess.Popen(
            [sys.executable, ROOT / "tests/support/previous_programs.py"], cwd=folder,
            env={**os.environ, **env, "PYTHONPATH": path}, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
        self._running: set[int] = set()

    def start(self, *order: str) -> int:
        """The process id of a program: see `previous_programs.py`."""
        pid = self._ask(*order)
        self._running.add(pid)
        return pid

    def wait(self, pid: int) -> int:
        """Its exit code, once it has ended."""
        self._running.discard(pid)
        return self._ask("wait", str(pid))

    def close(self) -> None:
        """Kill what still runs."""
        for pid in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        self._parent.communicate(timeout=60)

    def _ask(self, *words: str) -> int:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(" ".join(words) + "\n")
        self._parent.stdin.flush()
        answer = self._parent.stdout.readline()
        assert answer, "the package of the version before did not start"
        return int(answer)


def _found() -> tuple[str, int] | None:
    """The commit before the last one that added a migration, and how many migrations it knows; None: nothing tells."""
    now = [migration.checksum for migration in known_migrations()]
    for commit in _changes():
        then = _checksums(f"{commit}^")
        if then and len(then) < len(now) and then == now[: len(then)]:
            return f"{commit}^", len(then)
    return None


def _checksums(commit: str) -> list[str]:
    """Of its migrations, in order."""
    archive = subprocess.run(
        ["git", "archive", commit, MIGRATIONS], cwd=ROOT, capture_output=True, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        members = sorted((one for one in files if one.name.endswith(".sql")), key=lambda one: one.name)
        texts = [files.extractfile(one) for one in members]
        return [hashlib.sha256(text.read()).hexdigest() for text in texts if text is not None]


def _changes() -> list[str]:
    """The last commits of the main line that touched migrations and have a parent here, newest first."""
    words = ["git", "log", "--first-parent", "-n", "20", "--format=%H:%P", "--", MIGRATIONS]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    # A package that was unpacked has no history, and one that is cut off has commits without parents.
    return [line.partition(":")[0] for line in done.stdout.splitlines() if line.partition(":")[2]]
