"""Postmill as it was before the last migration was added, from the repository's history."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from postmill.schema.migration import Migration, known_migrations
from tests.support.spawner import ROOT

MIGRATIONS = "src/postmill/sql/migrations"
REWRITTEN = ROOT / "tests/journey/rewritten.txt"
"""Commits before the first release in which migrations were rewritten in place, so that older code cannot run on them."""


class Previous:
    """The package of a commit, in a folder of its own.

    The migrations that it knows are there in the words that they have now: until the first release they may be rewritten
    in place, and both sides must agree on what was applied.
    """

    def __init__(self, folder: Path) -> None:
        self.commit, names = _found()
        self.known: tuple[Migration, ...] = known_migrations()[: len(names)]
        self._folder = folder / "previous"
        self._folder.mkdir()
        archive = subprocess.Popen(["git", "archive", self.commit, "src"], cwd=ROOT, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", self._folder], stdin=archive.stdout, check=True)
        assert archive.stdout is not None
        archive.stdout.close()
        assert archive.wait() == 0
        for name in names:
            shutil.copy(ROOT / MIGRATIONS / name, self._folder / MIGRATIONS / name)

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
    return done.stdout.split()


def _names(commit: str) -> list[str]:
    return sorted(Path(name).name for name in _git("ls-tree", "--name-only", commit, f"{MIGRATIONS}/"))


def _found() -> tuple[str, list[str]]:
    """The commit before the last one that added a migration, and the files of the migrations that it knows."""
    now = [f"{migration.version:04}_{migration.name}.sql" for migration in known_migrations()]
    rewritten = {line.split()[0] for line in REWRITTEN.read_text().splitlines() if line[:1] not in ("", "#")}
    for commit in _changes():
        if any(commit.startswith(short) for short in rewritten):
            pytest.skip("no earlier state: migrations were rewritten since, before the first release")
        then = _names(f"{commit}^")
        if then and len(then) < len(now) and then == now[: len(then)]:
            return f"{commit}^", then
    pytest.skip(
        "not run: the history of the repository is not all here; fetch it whole (git fetch --unshallow)"
    )


def _changes() -> Iterator[str]:
    """The commits of the main line that touched migrations and have a parent here, newest first."""
    for line in _git("log", "--first-parent", "--format=%H:%P", "--", MIGRATIONS):
        commit, _, parents = line.partition(":")
        if parents:
            yield commit
