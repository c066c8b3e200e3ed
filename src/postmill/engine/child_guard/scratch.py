"""Scratch folders: made fresh, removed whole, however deep, huge or read-only they have become."""

from __future__ import annotations

import os
import stat

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def make(root: bytes, inner: bytes = b"") -> bytes:
    """A new folder for this user alone, with an empty folder `inner` in it, or empty. Raises OSError."""
    while True:
        path = os.path.join(root, b"postmill-" + os.urandom(8).hex().encode())
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            continue
        if inner:
            os.mkdir(os.path.join(path, inner), 0o700)
        return path


def remove(path: bytes) -> None:
    """Remove a folder and all in it. Raises OSError if something cannot be removed; the rest is gone then.

    A folder inside a folder is moved up before it is emptied, so that neither the depth of the tree nor the length
    of its paths matters, and only two folders are open at a time. Symbolic links are removed, never followed.
    """
    if not os.path.lexists(path):
        return
    if not _is_folder(path, None):  # the program has put something else in its place
        os.unlink(path)
        return
    os.chmod(path, 0o700)
    top = os.open(path, _FOLDER)
    token = os.urandom(8).hex()
    moved = 0
    failure: OSError | None = None
    try:
        stuck: set[str] = set()
        while names := [name for name in os.listdir(top) if name not in stuck]:
            for name in names:
                try:
                    moved = _take(top, name, token, moved)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    failure = error
                    stuck.add(name)
    finally:
        os.close(top)
    if failure is not None:
        raise failure
    os.rmdir(path)


def _take(top: int, name: str, token: str, moved: int) -> int:
    """Remove one entry of the top folder; what folders it holds become entries of the top folder."""
    if not _is_folder(name, top):
        os.unlink(name, dir_fd=top)
        return moved
    os.chmod(name, 0o700, dir_fd=top)
    folder = os.open(name, _FOLDER, dir_fd=top)
    try:
        for inner in os.listdir(folder):
            if not _is_folder(inner, folder):
                os.unlink(inner, dir_fd=folder)
                continue
            # To move a folder one must be able to write into it: its ".." changes.
            os.chmod(inner, 0o700, dir_fd=folder)
            moved += 1
            os.rename(inner, f"{token}-{moved}", src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)
    return moved


def _is_folder(name: str | bytes, folder: int | None) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
