"""What a command leaves in its folder `artifacts` is kept when it succeeds, and only plain files, and not too many."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from postmill import NewJob, aenqueue
from postmill.domain.settings_artifacts import ArtifactSettings
from tests.artifacts.conftest import settings
from tests.artifacts.support import Conn, files, rows
from tests.support.databases import Database
from tests.support.programs import Programs, define
from tests.support.workers import state, until, working

GOOD = """
open("artifacts/report.csv", "w").write("a,b")
open("artifacts/žluť.txt", "w").write("x" * 3000000)
open("elsewhere", "w").write("x")
print("done")
"""

# What a command may leave, and what of the refusal must be told.
BAD = {
    "link": ("os.symlink('/etc/hostname', 'artifacts/x')", "artifacts/x is a symbolic link"),
    "folder": ("os.mkdir('artifacts/sub')", "artifacts/sub is a folder"),
    "pipe": ("os.mkfifo('artifacts/pipe')", "artifacts/pipe is no plain file"),
    "swapped": ("os.rmdir('artifacts'); os.symlink('/etc', 'artifacts')", "artifacts is no folder any more"),
    "file": ("os.rmdir('artifacts'); open('artifacts', 'w')", "artifacts is no folder any more"),
    "many": ("[open(f'artifacts/{n}', 'w') for n in range(6)]", "more than 5 files"),
    "large": ("open('artifacts/x', 'w').write('x' * 5000000)", "at most 4194304 bytes"),
    "name": ("open(b'artifacts/\\xff', 'w')", "lone surrogate"),
    "line": ("open('artifacts/a\\nb', 'w')", "control character"),
}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    (tmp_path / "bin").mkdir()
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    return Programs(tmp_path / "bin", monkeypatch)


async def run(conn: Conn, key: str, *expected: str) -> Any:
    id = (await aenqueue(conn, NewJob.of(key))).id

    async def there() -> bool:
        return await state(conn, id) in expected

    await until(there)
    return id


async def test_files_of_a_success_are_kept(
    database: Database, apg: Conn, programs: Programs, store: ArtifactSettings, folder: Path, tmp_path: Path
) -> None:
    programs.make("good", GOOD)
    programs.make("failing", GOOD + "sys.exit(3)")
    programs.make("tidy", "os.rmdir('artifacts')")
    programs.make("none")
    for key in ("good", "failing", "tidy", "none"):
        await define(apg, key, argv_template=[key], max_attempts=1)
    async with working(database.dsn, artifacts=store):
        good = await run(apg, "good", "succeeded")
        await run(apg, "failing", "dead_letter")
        await run(apg, "tidy", "succeeded")
        await run(apg, "none", "succeeded")
    found = await rows(
        apg, "select job_id, name, content_type, size, attempt from postmill.artifacts order by name"
    )
    assert found == [(good, "report.csv", "text/csv", 3, 1), (good, "žluť.txt", "text/plain", 3000000, 1)]
    assert len(files(folder)) == 2
    assert os.listdir(tmp_path / "scratch") == []


async def test_what_is_refused_is_told_with_the_exit_code(
    database: Database, apg: Conn, programs: Programs, folder: Path, tmp_path: Path
) -> None:
    store = settings(f"file://{folder}", max_files=5, max_bytes=4 << 20)
    for key, (body, _) in BAD.items():
        programs.make(key, f"print('said'); {body}")
        await define(apg, key, argv_template=[key], max_attempts=3)
    async with working(database.dsn, artifacts=store):
        for key, (_, why) in BAD.items():
            id = await run(apg, key, "dead_letter")
            ((tail, code, message, attempts),) = await rows(
                apg,
                "select a.stdout_tail, a.exit_code, d.error_message, d.attempts from postmill.dead_letter d"
                " join postmill.job_attempts a on a.job_id = d.id where d.id = %s", id,
            )  # fmt: skip
            assert (tail, code, attempts) == ("said\n", 0, 1), key  # it is not tried again
            assert why in message, key
    assert await rows(apg, "select name from postmill.artifact") == []
    assert files(folder) == []
    assert os.listdir(tmp_path / "scratch") == []


async def test_without_a_store_there_is_no_folder(database: Database, apg: Conn, programs: Programs) -> None:
    programs.make("look", "print(os.listdir())")
    await define(apg, "look", argv_template=["look"])
    async with working(database.dsn):
        id = await run(apg, "look", "succeeded")
    assert await rows(apg, "select stdout_tail from postmill.job_attempts where job_id = %s", id) == [
        ("[]\n",)
    ]
