"""Parameters of queries and fields of forms, read as what they should be; a wrong one is a clear error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, overload
from urllib.parse import parse_qsl
from uuid import UUID

from postmill.api.problems import Problem

LONGEST = 20_000
"""Characters of one value: a payload in a form is the longest of them."""
MOST = 2_000
"""Values at once: a page of check boxes has far fewer."""

C = TypeVar("C", bound=str)
D = TypeVar("D")


class Arguments:
    """Names and values, in the order in which they came. Unknown names are not looked at."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    @classmethod
    def parsed(cls, text: str) -> Arguments:
        """From `application/x-www-form-urlencoded`; 422 for what cannot be stored or is too much."""
        try:
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST)
        except ValueError:
            raise refused("", f"more than {MOST:,} values") from None
        for name, value in pairs:
            if "\0" in value or "\0" in name:
                raise refused(name, "has a NUL character, which cannot be stored and so never be found")
            if len(value) > LONGEST:
                raise refused(name, f"is longer than {LONGEST:,} characters")
        return cls(pairs)

    def everything(self) -> dict[str, list[str]]:
        """All of it."""
        return {name: list(values) for name, values in self._values.items()}

    def all(self, name: str) -> list[str]:
        """Every value of a name that is not empty."""
        return [value for value in self._values.get(name, []) if value != ""]

    @overload
    def text(self, name: str) -> str: ...
    @overload
    def text(self, name: str, default: D) -> str | D: ...
    def text(self, name: str, default: object = "") -> object:
        """The last value without blanks around it; the default where there is none, or an empty one."""
        values = self._values.get(name)
        return default if not values else (values[-1].strip() or default)

    def whole(self, name: str, default: D, *, least: int = 0, most: int = 1_000_000) -> int | D:
        """A whole number within bounds. Raises Problem (422) for anything else."""
        text = self.text(name)
        if not text:
            return default
        if not (
            text.isascii() and text.lstrip("-").isdigit() and len(text) < 12 and least <= int(text) <= most
        ):
            raise refused(name, f"must be a whole number from {least:,} to {most:,}, not {text[:40]!r}")
        return int(text)

    def number(self, name: str, default: D, *, least: float = 0.0, most: float = 1e9) -> float | D:
        """A number within bounds. Raises Problem (422) for anything else."""
        text = self.text(name)
        if not text:
            return default
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise refused(name, f"must be a number from {least:g} to {most:g}, not {text[:40]!r}")
        return value

    def id(self, name: str) -> UUID | None:
        """A UUID; None where there is none. Raises Problem (422) for anything else."""
        text = self.text(name)
        return as_id(text, name) if text else None

    def ids(self, name: str) -> list[UUID]:
        """UUIDs of a repeated name."""
        return [as_id(text, name) for text in self.all(name)]

    def one_of(self, name: str, choices: Iterable[C], default: D) -> C | D:
        """One of some words. Raises Problem (422) for another."""
        text, known = self.text(name), [*choices]
        if not text:
            return default
        for one in known:
            if one == text:
                return one
        raise refused(name, f"must be one of {', '.join(known)}, not {text[:40]!r}")


def as_id(text: str, name: str) -> UUID:
    """A UUID from text; Problem (422) for anything else."""
    try:
        return UUID(text)
    except ValueError:
        raise refused(name, f"must be a UUID, not {text[:40]!r}") from None


def refused(name: str, why: str) -> Problem:
    """422 for one value."""
    detail = f"{name[:100]}: {why}" if name else why
    return Problem(422, "invalid-request", detail, errors=[{"at": name[:100], "message": why}])
