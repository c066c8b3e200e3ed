"""The query language of job lists: `type:SendEmail queue:mailers,webhooks -state:succeeded since:2h "key with blanks"`.

A blank is AND, a comma OR, `-` NOT. At most 512 characters and 24 terms. A term that is unknown, or cannot be, is refused
with its position and what was probably meant. Pure: names are resolved by `operate.finding`, where the database is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from postmill.domain import duration
from postmill.domain.query_fields import ABSENT, ARGS, FIELDS, MEANT, Field
from postmill.domain.query_words import QueryError, Value, Word, together, words, written
from postmill.domain.redaction import secret_key
from postmill.domain.suggest import did_you_mean, suggest

Op = Literal["=", ">", "<", ">=", "<="]

_COMPARED = re.compile(r"(>=|<=|>|<|=)?(.+)", re.DOTALL)
_HEX = re.compile(r"[0-9a-f-]{8,36}")
_DATE = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?))?(Z|[+-]\d{2}:?\d{2})?",
    re.ASCII | re.IGNORECASE,
)
_PATH = re.compile(r"args(\.[^.\s]+)+")
MOST_DEPTH = 8
MOST_ATTEMPTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """One value of a term, read.

    Attributes:
        text: as it was written, without quotes.
        op: of a number or a length; else `=`.
        number: attempts, or seconds.
        moment: of since and until where a date was written; a length of time means so many seconds (`number`) ago.
        id: of id and op where it is whole; `text` is the beginning of one otherwise.
        at, length: where it stands.
    """

    text: str
    op: Op = "="
    number: float | None = None
    moment: datetime | None = None
    id: UUID | None = None
    quoted: bool = False
    at: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)

    def __str__(self) -> str:
        # What was quoted stays so: of an argument it means text, whatever it looks like.
        return (
            written(self.text)
            if not self.quoted
            else '"' + self.text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        )


@dataclass(frozen=True, slots=True)
class Term:
    """`[-]name:value[,value …]`. `bare`: a value alone, which is the id or the idempotency key of one job.

    `path` is that of an argument: ("customer_id",) of `args.customer_id`.
    """

    name: str
    values: tuple[Asked, ...]
    negative: bool = False
    bare: bool = False
    at: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.name.split(".")[1:])

    def __str__(self) -> str:
        values = ",".join(map(str, self.values))
        return values if self.bare else f"{'-' if self.negative else ''}{self.name}:{values}"


@dataclass(frozen=True, slots=True)
class Query:
    """A query that was read. `str()` of it is the same query, written alike whoever wrote it."""

    terms: tuple[Term, ...] = ()

    def __str__(self) -> str:
        return " ".join(map(str, self.terms))

    @property
    def pasted(self) -> Asked | None:
        """The one value that the query is, if it is nothing else: the id or key of a job to go to."""
        return self.terms[0].values[0] if len(self.terms) == 1 and self.terms[0].bare else None

    def named(self, name: str) -> Sequence[Term]:
        """The terms of this name."""
        return [term for term in self.terms if term.name == name]

    def without(self, *names: str) -> Query:
        """The same without the terms of these names."""
        return Query(tuple(term for term in self.terms if term.name not in names))

    def with_values(self, name: str, *values: str) -> Query:
        """The same, with one term of this name in place of those that it had."""
        made = Term(name, tuple(_value(FIELDS[name], name, Value(value, 0, len(value))) for value in values))
        return Query((*self.without(name).terms, made))


def parse(text: str) -> Query:
    """What a query asks for.

    Raises:
        QueryError: with the position of what is wrong, and with what else is.
    """
    query, faults = read(text)
    if faults:
        raise together(faults)
    return query


def read(text: str) -> tuple[Query, list[QueryError]]:
    """The terms of a query that can be asked, and what is wrong with each of the others.

    Raises:
        QueryError: it cannot be cut into terms.
    """
    found = list(words(text))
    terms: list[Term] = []
    faults: list[QueryError] = []
    for word in found:
        try:
            terms.append(_term(word, alone=len(found) == 1))
        except QueryError as fault:
            faults.append(fault)
    return Query(tuple(terms)), faults


def _term(word: Word, *, alone: bool) -> Term:
    if word.name is None:
        return _bare(word, alone=alone)
    start = word.at + word.negative
    name = word.name.lower()
    if name.startswith(ARGS) or name + "." == ARGS:
        _check_path(word.name, start)
        # Arguments keep their case.
        name = ARGS + word.name[len(ARGS) :]
        values = tuple(
            Asked(value.text, quoted=value.quoted, at=value.at, length=value.length) for value in word.values
        )
        return Term(name, values, word.negative, at=word.at, length=word.length)
    known = FIELDS.get(name)
    if known is None:
        raise QueryError(start, len(word.name), _unknown(word.name), word.name)
    if known.positive and word.negative:
        raise QueryError(word.at, 1, f"{name}: takes no -; turn it round, as in {known.example}")
    if known.single and len(word.values) > 1:
        second = word.values[1]
        raise QueryError(second.at, second.length, f"{name}: takes one value, as in {known.example}")
    read = tuple(_value(known, name, value) for value in word.values)
    return Term(name, read, word.negative, at=word.at, length=word.length)


def _bare(word: Word, *, alone: bool) -> Term:
    value = word.values[0]
    id = uuid_of(value.text)
    if len(word.values) > 1 or (word.negative and id is None) or not (alone or id is not None):
        what = f"what is {value.text[:40]!r}? A term is name:value, as in key:{written(value.text[:40])};"
        raise QueryError(word.at, word.length, f"{what} terms are {', '.join(FIELDS)}, args.…")
    if word.negative:
        raise QueryError(word.at, word.length, f"to leave out one job write -id:{value.text}")
    read = Asked(value.text, id=id, quoted=value.quoted, at=value.at, length=value.length)
    return Term("id" if id is not None else "key", (read,), bare=True, at=word.at, length=word.length)


def _value(known: Field, name: str, value: Value) -> Asked:
    text, at, length = value.text, value.at, value.length
    if known.kind == "choice":
        if text.lower() not in known.choices:
            raise QueryError(
                at,
                length,
                f"unknown {name} {text[:40]!r}{did_you_mean(text, known.choices, noun=name + 's')}",
            )
        return Asked(text.lower(), at=at, length=length)
    if known.kind == "id":
        id = uuid_of(text)
        if id is None and not _HEX.fullmatch(text.lower()):
            raise QueryError(
                at, length, f"{name}: expected a UUID or at least its first 8 digits, got {text[:40]!r}"
            )
        return Asked(text.lower() if id is None else str(id), id=id, at=at, length=length)
    if known.kind == "moment":
        return _moment(name, value)
    if known.kind in ("number", "length"):
        return _compared(known, name, value)
    return Asked(text, quoted=value.quoted, at=at, length=length)


def _compared(known: Field, name: str, value: Value) -> Asked:
    found = _COMPARED.fullmatch(value.text)
    op, rest = (found[1] or "=", found[2]) if found else ("=", "")
    why = f"expected {known.example}"
    if known.kind == "number":
        if not (rest.isascii() and rest.isdigit() and len(rest) < 9 and int(rest) <= MOST_ATTEMPTS):
            raise QueryError(value.at, value.length, f"{name}: {why}, got {value.text[:40]!r}")
        number = float(rest)
    else:
        try:
            number = duration.parse(rest, name)
        except ValueError as error:
            raise QueryError(value.at, value.length, f"{error}; {why}") from None
        if op == "=":
            raise QueryError(
                value.at, value.length, f"{name}: is it longer or shorter? {why} or {name}:<{rest.strip()}"
            )
    return Asked(value.text, op=op, number=number, quoted=value.quoted, at=value.at, length=value.length)  # type: ignore[arg-type]


def _moment(name: str, value: Value) -> Asked:
    kept = {"quoted": value.quoted, "at": value.at, "length": value.length}
    found = _DATE.fullmatch(value.text)
    try:
        if found is None:
            return Asked(value.text, number=duration.parse(value.text, name), **kept)  # type: ignore[arg-type]
        zone = (found[3] or "Z").upper()
        zone = "+00:00" if zone == "Z" else zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
        moment = datetime.fromisoformat(f"{found[1]}T{found[2] or '00:00'}{zone}")
        if not 1970 <= moment.year <= 9000:
            raise ValueError("the year")
        return Asked(value.text, moment=moment.astimezone(UTC), **kept)  # type: ignore[arg-type]
    except ValueError:
        why = f"{name}: expected a length of time (2h: so long ago) or a date (2026-02-16, 2026-02-16T10:30Z; UTC)"
        raise QueryError(value.at, value.length, f"{why}, got {value.text[:40]!r}") from None


def _check_path(name: str, at: int) -> None:
    if not _PATH.fullmatch("args" + name[4:]) or name.count(".") > MOST_DEPTH:
        raise QueryError(at, len(name), "expected the path of an argument, as in args.customer_id:4242")
    for part in name.split(".")[1:]:
        if secret_key(part):
            raise QueryError(
                at, len(name), f"{part[:40]!r} is the name of a secret, which cannot be searched"
            )


def _unknown(name: str) -> str:
    folded = name.lower()
    if folded in ABSENT:
        return f"{ABSENT[folded]}"
    meant = MEANT.get(folded) or suggest(name, [*FIELDS, ARGS])
    hint = (
        f"; did you mean {meant}:?"
        if meant and meant != ARGS
        else "; did you mean args.…:?"
        if meant
        else ";"
    )
    return f"unknown term {name[:40]!r}{hint} terms are {', '.join(FIELDS)}, args.…"


def uuid_of(text: str) -> UUID | None:
    """The id that a text is, however it was pasted: with or without dashes, in braces, as a URN; None: it is none."""
    try:
        return UUID(text) if 32 <= len(text) <= 45 else None
    except ValueError:
        return None
