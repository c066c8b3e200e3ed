"""Which PostgreSQL programs are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from postmill.local import binaries
from postmill.local.errors import LocalServerError
from tests.support.postgres import DEBIAN_15


def programs(folder: Path, version: str) -> Path:
    """A folder of programs that say that they are of some version."""
    folder.mkdir(parents=True)
    for name in ("postgres", "initdb"):
        (folder / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n")
        (folder / name).chmod(0o755)
    return folder


def test_the_wheel_comes_first() -> None:
    assert binaries.find_bindir() == binaries.embedded_bindir()
    assert binaries.major_version(binaries.find_bindir()) == 18


def test_without_the_wheel_the_machine_s_own_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = programs(tmp_path / "own" / "bin", "17.2 (Debian 17.2-1)")
    config = tmp_path / "path" / "pg_config"
    config.parent.mkdir()
    config.write_text(f"#!/bin/sh\necho '{own}'\n")
    config.chmod(0o755)
    monkeypatch.setenv("PATH", str(config.parent))
    monkeypatch.setattr(binaries, "find_spec", lambda name: None)
    assert binaries.find_bindir() == own


def test_an_explicit_folder_is_taken_and_no_other(tmp_path: Path) -> None:
    assert binaries.find_bindir(programs(tmp_path / "a", "16.4")) == tmp_path / "a"
    with pytest.raises(LocalServerError, match="nothing here"):
        binaries.find_bindir(tmp_path / "nothing here")


def test_too_old_programs_are_refused_with_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(LocalServerError, match=r"PostgreSQL 15 or newer.*\(14\).*postmill\[embedded\]"):
        binaries.find_bindir(programs(tmp_path / "old", "14.11"))


@pytest.mark.needs_debian15
def test_an_old_data_folder_gets_the_programs_that_made_it() -> None:
    assert binaries.major_version(binaries.find_bindir(major=15)) == 15
    assert str(binaries.find_bindir(major=15)) == DEBIAN_15


def test_no_program_of_that_version_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LocalServerError, match="no PostgreSQL 99 found"):
        binaries.find_bindir(major=99)
