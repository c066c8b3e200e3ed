"""What the guard is to start, and how it crosses the control socket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .wire import join, split


class Launch:
    """A program and its limits.

    Attributes:
        argv, env: bytes without NUL, handed to `execve` as they are.
        timeout: seconds from the start until SIGTERM; None for none.
        grace: seconds from SIGTERM to SIGKILL.
        tail_bytes: how much of the end of each output is kept.
        memory_limit: RLIMIT_AS in bytes; None for none.
        scratch_root: where to make the scratch folder that becomes the working directory; None: no folder, and the
            worker's own working directory.
        folder: name of a folder to make in the scratch folder; empty: it begins empty.
        keep: file descriptors that the program inherits besides 0, 1 and 2.
    """

    __slots__ = (
        "argv",
        "env",
        "folder",
        "grace",
        "keep",
        "memory_limit",
        "scratch_root",
        "tail_bytes",
        "timeout",
    )

    def __init__(
        self,
        argv: Sequence[bytes],
        env: Mapping[bytes, bytes],
        *,
        timeout: float | None,
        grace: float,
        tail_bytes: int,
        memory_limit: int | None = None,
        scratch_root: bytes | None = None,
        folder: bytes = b"",
        keep: Sequence[int] = (),
    ) -> None:
        self.argv = tuple(argv)
        self.env = dict(env)
        self.timeout = timeout
        self.grace = grace
        self.tail_bytes = tail_bytes
        self.memory_limit = memory_limit
        self.scratch_root = scratch_root
        self.folder = folder
        self.keep = tuple(keep)

    def fields(self) -> list[bytes]:
        """For a LAUNCH frame."""
        return [
            join(self.argv),
            join([part for pair in self.env.items() for part in pair]),
            number(self.timeout),
            number(self.grace),
            number(self.tail_bytes),
            number(self.memory_limit),
            self.scratch_root or b"",
            self.folder,
            b",".join(number(fd) for fd in self.keep),
        ]

    @classmethod
    def of(cls, fields: Sequence[bytes]) -> Launch:
        """From a LAUNCH frame."""
        argv, env, timeout, grace, tail_bytes, memory_limit, scratch_root, folder, keep = fields
        pairs = split(env)
        return cls(
            split(argv),
            dict(zip(pairs[::2], pairs[1::2], strict=True)),
            timeout=float(timeout) if timeout else None,
            grace=float(grace),
            tail_bytes=int(tail_bytes),
            memory_limit=int(memory_limit) if memory_limit else None,
            scratch_root=scratch_root or None,
            folder=folder,
            keep=[int(fd) for fd in keep.split(b",")] if keep else (),
        )


def number(value: float | None) -> bytes:
    """A number as text; nothing for None."""
    return b"" if value is None else repr(value).encode()
