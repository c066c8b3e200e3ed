"""How many jobs of a queue run at once: a number, or a range within which it follows the work."""

from __future__ import annotations

from dataclasses import dataclass

MOST_SLOTS = 10_000


@dataclass(frozen=True, slots=True)
class SlotRange:
    """From `least` to `most` slots, as in `5..40`.

    Raises:
        ValueError: it is none: 1 ≤ least < most ≤ 10,000.
    """

    least: int
    most: int

    def __post_init__(self) -> None:
        if not 1 <= self.least < self.most <= MOST_SLOTS:
            raise ValueError(
                f"a range of slots is MIN..MAX with 1 <= MIN < MAX <= {MOST_SLOTS}, not {self.least}..{self.most}"
            )

    def __str__(self) -> str:
        return f"{self.least}..{self.most}"

    @classmethod
    def parse(cls, text: str) -> SlotRange:
        """Reads `5..40`. Raises ValueError."""
        least, _, most = (part.strip() for part in text.partition(".."))
        if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in (least, most)):
            raise ValueError(f"a range of slots is MIN..MAX, as 5..40, not {text!r:.80}")
        return cls(int(least), int(most))


Slots = int | SlotRange


def most_of(slots: Slots) -> int:
    """The highest number of slots that there can be."""
    return slots if isinstance(slots, int) else slots.most


def least_of(slots: Slots) -> int:
    """The number of slots that there are always."""
    return slots if isinstance(slots, int) else slots.least


def slots_between(least: int, most: int) -> Slots:
    """A range, or a number where both are the same."""
    return most if least >= most else SlotRange(least, most)
