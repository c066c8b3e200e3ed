"""Postmill as it was before the last migration was added, from the repository's history."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from postmill.schema.migration import Migration, known_migrations
from tests.support.spawner import ROOT

MIGRATIONS = "src/postmill/sql/migrations"


class Previous:
    """The package of a commit, in a folder of its own.

    Skips the test where no commit is left whose migrations are those of now, and fewer: until the first release they may be
    rewritten in place, and what was written before cannot be expected to work on that.
    """

    def __init__(self, folder: Path) -> None:
        self.commit, count = _found()
        self.known: tuple[Migration, ...] = known_migrations()[:count]
        self._folder = folder / "previous"
        self._folder.mkdir()
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


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"not run: there is no history of the repository here ({done.stderr.strip()})")
    return done.stdout.splitlines()


def _found() -> tuple[str, int]:
    """The commit before the last one that added a migration, and how many migrations it knows."""
    now = [migration.checksum for migration in known_migrations()]
    for commit in _changes():
        then = _checksums(f"{commit}^")
        if then and len(then) < len(now) and then == now[: len(then)]:
            return f"{commit}^", len(then)
    pytest.skip("no earlier state: migrations were rewritten since, as they may be before the first release")


def _checksums(commit: str) -> list[str]:
    """Of its migrations, in order."""
    archive = subprocess.run(
        ["git", "archive", commit, MIGRATIONS], cwd=ROOT, capture_output=True, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        members = sorted((one for one in files if one.name.endswith(".sql")), key=lambda one: one.name)
        texts = [files.extractfile(one) for one in members]
        return [hashlib.sha256(text.read()).hexdigest() for text in texts if text is not None]


def _changes() -> Iterator[str]:
    """The last commits of the main line that touched migrations and have a parent here, newest first."""
    found = _git("log", "--first-parent", "-n", "20", "--format=%H:%P", "--", MIGRATIONS)
    for line in found:
        commit, _, parents = line.partition(":")
        if parents:
            yield commit
        else:
            pytest.skip("not run: the history of the repository is cut off; git fetch --unshallow")
