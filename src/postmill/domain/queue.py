"""Names of queues: their case is kept, and people need not type it where the name is clear."""

from __future__ import annotations

from collections.abc import Iterable

from postmill.domain.errors import UnknownQueue

LONGEST_NAME = 128


def check_queue_name(name: str) -> str:
    """`name` if a queue can have it; ValueError otherwise.

    1 to 128 printable characters without white space, comma and equals sign (which separate queues and slots
    on the command line). A colon is fine: `q:critical`.
    """
    if not 0 < len(name) <= LONGEST_NAME:
        raise ValueError(f"a queue name has 1 to {LONGEST_NAME} characters, not {len(name)}")
    bad = next((c for c in name if c in ",=" or c.isspace() or not c.isprintable()), None)
    if bad is not None:
        raise ValueError(
            f"queue name {name!r} holds {bad!r}; white space, control characters, ',' and '=' may not"
        )
    return name


def match_queue(name: str, known: Iterable[str]) -> str:
    """The known queue that `name` means: spelled exactly, or without case where only one fits.

    Raises UnknownQueue, which says what exists, what was probably meant, or which names compete.
    """
    names = sorted(set(known))
    if name in names:
        return name
    alike = [candidate for candidate in names if candidate.casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0]
    raise UnknownQueue(name, names, alike)
