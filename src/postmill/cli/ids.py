"""Ids of jobs: short enough for a table, long enough to be copied back.

An id is a UUIDv7: its first 18 characters are the moment of its making to a quarter of a microsecond, which
one database session never gives twice. Any beginning of at least 8 characters is accepted where it is
unambiguous; the look-up is a range of the primary key.
"""

from __future__ import annotations

from uuid import UUID

from postmill.cli.errors import CliError

SHORT = 18
LEAST = 8

_HEX = frozenset("0123456789abcdef")


def short(id: UUID | str) -> str:
    """The beginning of an id that tables show."""
    return str(id)[:SHORT]


def id_range(text: str, of: str = "job") -> tuple[UUID, UUID]:
    """The smallest and the largest id that begins like `text`; equal for a whole id. `of`: what such an id is one of.

    Raises CliError (usage) for what is no id.
    """
    digits = text.strip().lower().replace("-", "").rstrip("…")
    if not digits or not _HEX.issuperset(digits) or len(digits) > 32:
        raise CliError(f"{text!r} is no {of} id", f"copy one from: postmill {of}s list")
    if len(digits) < LEAST:
        raise CliError(
            f"{text!r} is too short for {'an' if of[0] in 'io' else 'a'} {of} id",
            f"give at least its first {LEAST} characters",
        )
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))


def short_worker(worker_id: str) -> str:
    """`host:pid` and the beginning of the boot's uuid: enough to tell two workers apart."""
    host, mark, boot = worker_id.rpartition(":")
    return f"{host}{mark}{boot[:8]}"
