"""The scratch folder: fresh, private, and gone afterwards, whatever has become of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from postmill.engine.child_guard import scratch
from postmill.engine.command import Command, run_command
from tests.engine.process_helpers import shell


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder to make scratch folders in."""
    made = tmp_path / "a folder\nwith ž"
    made.mkdir()
    return made


async def test_it_is_fresh_private_and_the_working_directory(root: Path) -> None:
    result = await shell('stat -c %a .; ls -A; printf "%s" "$PWD"', scratch_root=root)
    mode, path = result.stdout_tail.split("\n", 1)
    assert mode == "700"
    assert Path(path).parent == root
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(
    "script",
    [
        "mkdir -p a/b/c; touch a/b/c/x; chmod 000 a/b/c a/b a .",
        "mkdir a; touch a/x; chmod 400 a/x; chmod 500 a",
        "for n in $(seq 60); do mkdir {0}; cd -P {0}; done; touch bottom".format("d" * 200),
        "for n in $(seq 20); do mkdir d$n; touch d$n/{a..z}; done; touch -- \"-rf\" \"*\" $'new\\nline' $'\\xff'",
        "mkfifo pipe; ln -s /nowhere dangling; ln -s .. up; mkdir -p .postmill-x/postmill-x; truncate -s 10G huge",
        "rm -rf $PWD",
        "rmdir $PWD; touch $PWD",
    ],
    ids=["no rights", "read-only", "deep", "wide", "odd kinds", "gone already", "a file now"],
)
async def test_it_is_removed_whatever_it_holds(root: Path, script: str) -> None:
    await shell(script, scratch_root=root)
    assert list(root.iterdir()) == []


async def test_links_out_of_it_are_not_followed(root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o755)
    (kept / "file").write_text("here")
    await shell(
        f"ln -s {kept} link; mkdir sub; ln -s {kept} sub/link; ln {kept}/file hard", scratch_root=root
    )
    assert list(root.iterdir()) == []
    assert (kept / "file").read_text() == "here"
    assert kept.stat().st_mode & 0o777 == 0o755


async def test_it_is_removed_after_a_kill_and_after_a_failed_start(root: Path) -> None:
    await shell(
        "trap '' TERM; touch x; while :; do sleep 0.01; done", scratch_root=root, timeout=0.1, grace=0.1
    )
    with pytest.raises(FileNotFoundError):
        await run_command(Command(("no-such-program",), scratch_root=root))
    assert list(root.iterdir()) == []


def test_rights_of_a_common_user_are_enough(root: Path) -> None:
    """As root nothing is read-only, so this is done by a process of somebody else."""
    root.chmod(0o777)
    for folder in list(root.parents)[:5]:
        if folder.stat().st_uid == os.getuid() and folder.name.startswith(
            ("pytest", "popen", "test_", "postmill-tests")
        ):
            folder.chmod(folder.stat().st_mode | 0o011)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            status = _make_read_only_and_remove(os.fsencode(root))
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert list(root.iterdir()) == []


def _make_read_only_and_remove(root: bytes) -> int:
    made = scratch.make(root)
    path = Path(os.fsdecode(made))
    (path / "a/b/c").mkdir(parents=True)
    (path / "a/b/file").write_text("x")
    for folder in (path / "a/b/c", path / "a/b", path / "a", path):
        folder.chmod(0)
    scratch.remove(made)
    return int(path.exists())


def test_what_cannot_be_removed_is_told_and_the_rest_goes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = scratch.make(os.fsencode(root))
    path = Path(os.fsdecode(made))
    for name in ("a", "stuck", "z"):
        (path / name).mkdir()
        (path / name / "file").touch()
    real = os.rmdir

    def rmdir(name: str, *, dir_fd: int | None = None) -> None:
        if name == "stuck":
            raise PermissionError(1, "immutable", name)
        real(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", rmdir)
    with pytest.raises(PermissionError, match="immutable"):
        scratch.remove(made)
    assert [child.name for child in path.iterdir()] == ["stuck"]
