"""What a command leaves in its folder `artifacts` becomes artifacts of its job, each plain file under its own name."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator
from pathlib import Path
from typing import BinaryIO

from postmill.artifacts.sources import CHUNK
from postmill.artifacts.threads import in_thread
from postmill.domain.artifact import check_name
from postmill.domain.errors import ArtifactRefused
from postmill.engine.artifacts import JobArtifacts

FOLDER = "artifacts"
"""Name of the folder, in the command's working directory."""


async def collect(folder: Path, artifacts: JobArtifacts, most: int, stopping: Callable[[], bool]) -> None:
    """Puts all files of the folder, in the order of their names. Ends early once `stopping` says so.

    Whatever is no plain file is refused by name, and nothing is put then: a symbolic link could lead to anybody's file,
    a folder has no bytes of its own.

    Raises:
        ArtifactRefused: more than `most` files, one that is no plain file, or whose name cannot be an artifact's.
        ArtifactTooLarge, ArtifactStoreFailed: as `put` does; what was put before stays.
        OSError: the folder, or a file in it, cannot be read.
    """
    top = await in_thread(lambda: _opened(folder))
    if top is None:
        return
    try:
        for name in await in_thread(lambda: _names(top, most)):
            if stopping():
                return
            with os.fdopen(_file(name, top), "rb") as file:
                await artifacts.aput(name, _pieces(file, stopping))
    except _Stopped:
        return
    finally:
        os.close(top)


class _Stopped(Exception):
    """The job is to stop: a file that is half put is taken back."""


def _opened(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None  # the command has removed it: it has nothing to keep
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise ArtifactRefused(
                f"{FOLDER} is no folder any more; what is to be kept goes into it"
            ) from None
        raise


def _names(top: int, most: int) -> list[str]:
    found: list[str] = []
    with os.scandir(top) as entries:
        for entry in entries:
            if len(found) == most:
                raise ArtifactRefused(
                    f"the command left more than {most} files in {FOLDER}, which is the most (artifacts.max_files);"
                    " put several into one"
                )
            check_name(entry.name)
            if not entry.is_file(follow_symlinks=False):
                raise ArtifactRefused(
                    f"{FOLDER}/{entry.name} is {_kind(entry)}; only plain files are kept, pack others into one"
                )
            found.append(entry.name)
    return sorted(found)


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "a symbolic link"
    return "a folder" if entry.is_dir(follow_symlinks=False) else "no plain file"


def _file(name: str, top: int) -> int:
    """What was found a moment ago, opened as that and nothing else."""
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=top)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise ArtifactRefused(f"{FOLDER}/{name} is no plain file any more")
    return file


def _pieces(file: BinaryIO, stopping: Callable[[], bool]) -> Generator[bytes]:
    while piece := file.read(CHUNK):
        if stopping():
            raise _Stopped
        yield piece
