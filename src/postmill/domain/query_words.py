"""A query cut into its words: where each begins, and what stands in quotes. What a word means is `query_fields`' business.

word  = ["-"] name ":" value *("," value) | value
value = 1*(neither blank, nor comma, nor quote) | quote 1*(any; a backslash before a quote and a backslash) quote
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from postmill.domain.errors import InvalidValue

LONGEST = 512
"""Characters of a query."""

MOST = 24
"""Terms of a query."""

MOST_FAULTS = 5
"""Mistakes of one query that are told at once."""


class QueryError(InvalidValue):
    """A query that cannot be asked: where, and what to write in its place.

    Attributes:
        at: the offset of the first character that is wrong, from 0.
        length: how many characters it is about, at least 1.
        why: what is wrong, and what to do, without the position.
        term: the name of a term that is not known.
        others: what else is wrong with the same query, in the order of the places.
    """

    others: tuple[QueryError, ...] = ()

    def __init__(self, at: int, length: int, why: str, term: str | None = None) -> None:
        self.at = at
        self.term = term
        self.length = max(1, length)
        self.why = why
        super().__init__(at, length, why)

    def __str__(self) -> str:
        return "; ".join(f"at character {one.at + 1}: {one.why}" for one in self.all)

    @property
    def all(self) -> tuple[QueryError, ...]:
        """This and the others."""
        return (self, *self.others)


def together(faults: Sequence[QueryError]) -> QueryError:
    """The first of them, which knows of the others: at most five in all."""
    first, *others = sorted(faults, key=lambda one: one.at)[:MOST_FAULTS]
    first.others = tuple(others)
    return first


@dataclass(frozen=True, slots=True)
class Value:
    """One value, without its quotes. `at` and `length` are where it stands, quotes included."""

    text: str
    at: int
    length: int
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """One term as it was written. `name` None: a value alone."""

    negative: bool
    name: str | None
    values: tuple[Value, ...]
    at: int
    length: int


def words(text: str) -> Iterator[Word]:
    """The terms of a query, the first one first.

    Raises:
        QueryError: longer than 512 characters, more than 24 terms, or not written by the rule above.
    """
    if len(text) > LONGEST:
        raise QueryError(
            LONGEST, len(text) - LONGEST, f"a query has at most {LONGEST} characters, this one {len(text)}"
        )
    for at, character in enumerate(text):
        if not (character.isprintable() or character.isspace()) or character in "\x1c\x1d\x1e\x1f\x85":
            raise QueryError(at, 1, "a character that cannot be printed; write the query anew")
    at, n = 0, 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        n += 1
        if n > MOST:
            raise QueryError(
                at, len(text) - at, f"a query has at most {MOST} terms; several values of one: type:a,b"
            )
        word = _word(text, at)
        at += word.length
        yield word


def written(value: str) -> str:
    """A value as it is written in a query: in quotes where it must be."""
    if value and not any(character.isspace() or character in ',"' for character in value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _word(text: str, start: int) -> Word:
    at = start
    negative = text[at] == "-"
    at += negative
    name = None
    end = at
    while end < len(text) and not text[end].isspace() and text[end] not in ':,"':
        end += 1
    if end < len(text) and text[end] == ":":
        name, at = text[at:end], end + 1
    values = []
    while True:
        value = _value(text, at, start)
        values.append(value)
        at += value.length
        if at == len(text) or text[at].isspace():
            return Word(negative, name, tuple(values), start, at - start)
        if text[at] != ",":
            raise QueryError(at, 1, "expected a blank or a comma behind the quotes")
        at += 1


def _value(text: str, at: int, start: int) -> Value:
    if at < len(text) and text[at] == '"':
        return _quoted(text, at)
    end = at
    while end < len(text) and not text[end].isspace() and text[end] not in ',"':
        end += 1
    if end == at and text[at : at + 1] == ",":
        raise QueryError(at, 1, "expected a value before the comma, as in type:SendEmail")
    if end == at:
        raise QueryError(start, max(1, at - start), "expected a value here, as in type:SendEmail")
    if end < len(text) and text[end] == '"':
        raise QueryError(end, 1, 'a quote within a value; put the whole value in quotes, as in key:"a \\" b"')
    return Value(text[at:end], at, end - at)


def _quoted(text: str, start: int) -> Value:
    made: list[str] = []
    at = start + 1
    while at < len(text) and text[at] != '"':
        if text[at] == "\\":
            if text[at + 1 : at + 2] not in ("\\", '"') or at + 1 == len(text):
                raise QueryError(at, 1, 'in quotes write \\\\ for a backslash and \\" for a quote')
            at += 1
        made.append(text[at])
        at += 1
    if at == len(text):
        raise QueryError(start, len(text) - start, "a quote that is never closed")
    if not made:
        raise QueryError(start, 2, "expected something between the quotes")
    return Value("".join(made), start, at + 1 - start, quoted=True)
