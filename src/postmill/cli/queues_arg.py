"""`--queues high=20,default=5..40`: which queues a worker serves, each with its slots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from postmill.cli.errors import CliError
from postmill.domain.errors import UnknownQueue
from postmill.domain.queue import check_queue_name, match_queue
from postmill.domain.slot_range import MOST_SLOTS, SlotRange, Slots

DEFAULT_SLOTS = 10
"""Slots of a queue for which none are given."""

SYNTAX = "write NAME=SLOTS,NAME=SLOTS as in: --queues high=20,default=10 (NAME alone has 10 slots; 5..40 follows the work)"


def parse_queues(given: Sequence[str]) -> dict[str, Slots]:
    """Slots by queue, in the order given; the option may be repeated.

    Raises CliError (usage) that shows the part that is wrong.
    """
    slots: dict[str, Slots] = {}
    for part in (part.strip() for text in given for part in text.split(",")):
        if not part:
            raise CliError(f"--queues {','.join(given)!r} holds an empty part", SYNTAX)
        name, mark, number = (piece.strip() for piece in part.partition("="))
        try:
            check_queue_name(name)
        except ValueError as fault:
            raise CliError(f"--queues {part!r}: {fault}", SYNTAX) from None
        if name in slots:
            raise CliError(f"--queues names {name!r} twice", SYNTAX)
        slots[name] = _slots(part, number) if mark else DEFAULT_SLOTS
    return slots


def match_queues(slots: dict[str, Slots], known: Iterable[str]) -> dict[str, Slots]:
    """The same by their real names: case does not matter where that is unambiguous.

    Raises UnknownQueue for a name that no loaded job type and no queue of the database has.
    """
    names = sorted(set(known))
    matched: dict[str, Slots] = {}
    for given, count in slots.items():
        try:
            name = match_queue(given, names)
        except UnknownQueue:
            if (meant := given.rpartition(":"))[0] in names and meant[2].isdigit():
                raise CliError(
                    f"--queues {given!r}: there is no such queue, and slots follow '='", SYNTAX
                ) from None
            raise
        if name in matched:
            raise CliError(f"--queues names {name!r} twice (as {given!r})", SYNTAX)
        matched[name] = count
    return matched


def _slots(part: str, number: str) -> Slots:
    if ".." in number:
        try:
            return SlotRange.parse(number)
        except ValueError as fault:
            raise CliError(f"--queues {part!r}: {fault}", SYNTAX) from None
    if (
        not (number.isascii() and number.isdigit())
        or not 1 <= int(number[:9]) <= MOST_SLOTS
        or len(number) > 9
    ):
        raise CliError(f"--queues {part!r}: slots are a whole number from 1 to {MOST_SLOTS}", SYNTAX)
    return int(number)
