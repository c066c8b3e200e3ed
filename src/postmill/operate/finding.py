"""Jobs by a query: what a person typed, read, resolved and answered. Each is a flow, to be run as those of `commands` are."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from postmill.domain.enqueue_rules import EnqueueRules
from postmill.domain.errors import NotFound
from postmill.domain.query import Asked, Query, Term, parse, read, uuid_of
from postmill.domain.query_fields import ARGS, FIELDS
from postmill.domain.query_filter import RESOLVED, job_filter
from postmill.domain.query_words import QueryError, together, written
from postmill.domain.redaction import secret_key
from postmill.domain.suggest import suggest
from postmill.store import finding as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.definition_rows import DefinitionView
from postmill.store.definitions import enqueue_rules, list_definitions
from postmill.store.finding import FoundBars, FoundCount, FoundJob, FoundPage
from postmill.store.flow import Flow
from postmill.store.jobs import NEWEST
from postmill.store.reads import read_job_state

_ARGUMENT = re.compile(r"[^.\s:,\"]+")

_STEP = 0.4
"""Seconds that one step of a page may take: far from the two after which a statement is cut."""

_MOST_LOOK = 50_000

MOST_MEANT = 20
"""Groups, triggers or operations that one name may stand for; with more of them a longer one is asked for."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A query with its names resolved.

    Attributes:
        query: as it was read.
        filter: as the statements of `store.finding` take it.
    """

    query: Query
    filter: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Offer:
    """One completion: the whole term that takes the place of what was typed, and a note."""

    text: str
    note: str | None = None


def wanted(text: str, *, payloads: bool = False, schema: str = DEFAULT_SCHEMA) -> Flow[Wanted]:
    """Reads a query and resolves its names within the scope.

    Args:
        text: the query.
        payloads: whether who asks may see payloads; without it nothing is found by an argument.

    Raises:
        QueryError: with the position of what is wrong, and what was probably meant; it knows of all that is wrong.
    """
    query, faults = read(text)
    asked = [
        (term.name, value.text) for term in query.terms if term.name in RESOLVED for value in term.values
    ]
    names: dict[tuple[str, str], list[str]] = {}
    if asked:
        names = yield store.read_query_names(sorted(set(asked)), schema=schema)
    for term in query.terms:
        for value in term.values if term.name in RESOLVED else ():
            meant = names.get((term.name, value.text), [])
            if not meant:
                faults.append(QueryError(value.at, value.length, (yield from _unknown(term, value, schema))))
            if len(meant) > MOST_MEANT:
                why = f"{value.text[:40]!r} stands for more than {MOST_MEANT}; write more of it"
                faults.append(QueryError(value.at, value.length, f"{term.name}: {why}"))
    if faults:
        raise (yield from _told(faults, payloads, schema))
    for term in query.terms:
        if term.name.startswith(ARGS):
            yield from _check_args(term, query, names, payloads, schema)
    return Wanted(query, job_filter(query, names))


def jump(text: str, *, schema: str = DEFAULT_SCHEMA) -> Flow[UUID | None]:
    """The job that a pasted id or idempotency key is of; None: the text is a query, or nothing holds this key.

    Raises:
        NotFound: it is an id, and no job in scope has it.
    """
    id = uuid_of(text.strip())
    if id is None:
        try:
            pasted = parse(text.strip()).pasted
        except QueryError:
            return None
        if pasted is None or pasted.id is None:
            return None if pasted is None else (yield from holder(pasted.text, schema=schema))
        id = pasted.id
    if not (yield read_job_state([id], schema=schema)):
        raise NotFound(f"there is no job {id}")
    return id


def holder(key: str, *, schema: str = DEFAULT_SCHEMA) -> Flow[UUID | None]:
    """The one job that holds an idempotency key; None: there is none, or there are several. For a key that looks like a
    query, as `order:4711`, and is none.
    """
    key = key.strip()
    if not key or len(key) > 500 or not key.isprintable():
        return None
    holders: list[UUID] = yield store.read_key_holders(key, schema=schema)
    return holders[0] if len(holders) == 1 else None


def page(
    what: Wanted,
    *,
    before: UUID | None = None,
    most: int = 50,
    look: int = store.LOOK,
    patience: float = 0.0,
    paths: Sequence[Sequence[str]] = (),
    schema: str = DEFAULT_SCHEMA,
) -> Flow[FoundPage]:
    """One page of what is wanted, the newest first; `before` is the last page's.

    Args:
        look: how many jobs are looked at first.
        patience: for how many seconds reading goes on, in larger steps, while the page is not full; whatever they are, as
            many jobs are looked at as `bars` counts, so that what is counted is shown. 0: one step.
    """
    jobs: list[FoundJob] = []
    below, looked, began = before or NEWEST, 0, time.monotonic()
    while True:
        step = time.monotonic()
        found: FoundPage = yield store.read_matching(
            what.filter, before=below, most=most - len(jobs), look=look, paths=paths, schema=schema
        )
        jobs += found.jobs
        looked += look
        now = time.monotonic()
        if not (found.cut and found.before and patience) or (
            now - began > patience and looked >= store.LOOK_OF_BARS
        ):
            return FoundPage(jobs, found.before, found.cut)
        look = max(store.LOOK, min(look * 4, int(look * _STEP / max(now - step, 0.001)), _MOST_LOOK))
        below = found.before
        if types := _types(what.filter):
            below = yield store.read_made_below(types, below, schema=schema)


def counts(what: Wanted, *, schema: str = DEFAULT_SCHEMA) -> Flow[list[FoundCount]]:
    """How many jobs there are in each state, whatever states the query names."""
    found: list[FoundCount] = yield store.read_matching_counts(what.filter, schema=schema)
    return found


def bars(what: Wanted, *, schema: str = DEFAULT_SCHEMA) -> Flow[FoundBars]:
    """How many jobs there are (up to 10,000), and when they were made."""
    found: FoundBars = yield store.read_matching_bars(what.filter, schema=schema)
    return found


def offers(typed: str, *, most: int = 12, schema: str = DEFAULT_SCHEMA) -> Flow[list[Offer]]:
    """What the term that is just being typed may become: a name of a term, or one of its values."""
    minus = "-" if typed.startswith("-") else ""
    name, colon, rest = typed[len(minus) :].partition(":")
    if not colon:
        known = [f for f in FIELDS if name.lower() in f and not (minus and FIELDS[f].positive)]
        known.sort(key=lambda f: not f.startswith(name.lower()))
        return [Offer(f"{minus}{f}:", FIELDS[f].help) for f in known][:most]
    field = FIELDS.get(name.lower())
    if field is None:
        return []
    done, comma, last = rest.rpartition(",")
    head = f"{minus}{name.lower()}:{done}{comma}"
    last = last.strip('"')
    if field.choices:
        fitting = sorted(
            (choice for choice in field.choices if last.lower() in choice),
            key=lambda choice: not choice.startswith(last.lower()),
        )
        return [Offer(head + choice) for choice in fitting][:most]
    if name.lower() not in (*RESOLVED, "tag"):
        return [] if last else [Offer(field.example, field.help)]
    found: list[tuple[str, str | None]] = yield store.read_facets(
        name.lower(), last, most=most, schema=schema
    )
    return [Offer(head + written(value), note) for value, note in found]


def by_argument(text: str, *, most: int = 6, schema: str = DEFAULT_SCHEMA) -> Flow[list[str]]:
    """Queries that a value alone may have meant: for jobs that have it as an argument their type declares, numbers for what
    looks like one. Of the first 100 types.
    """
    kinds = ("integer", "number") if text.lstrip("-").isdecimal() else ("string",)
    found = yield from _declared(None, schema)
    return [
        f"type:{written(key)} {ARGS}{name}:{written(text)}"
        for key, name, rule in found
        if rule.get("type") in kinds
    ][:most]


def arguments(types: Sequence[str], *, schema: str = DEFAULT_SCHEMA) -> Flow[list[str]]:
    """The arguments that these job types declare, secrets not."""
    found = yield from _declared(types, schema)
    return [name for _, name, _ in found]


def _declared(types: Sequence[str] | None, schema: str) -> Flow[list[tuple[str, str, dict[str, Any]]]]:
    """Job type, name and rule of each argument that one can ask for; of the first 100 types where none are named."""
    if types is None:
        views: list[DefinitionView] = yield list_definitions(active=True, most=100, schema=schema)
        types = [one.key for one in views]
    rules: dict[str, EnqueueRules] = (yield enqueue_rules(sorted(types), schema=schema)) if types else {}
    return [
        (key, name, rule)
        for key, each in rules.items()
        for name, rule in (json.loads(each.arg_schema).get("properties") or {}).items()
        if isinstance(rule, dict)
        and _ARGUMENT.fullmatch(name)
        and not secret_key(name)
        and name.lower() not in {secret.lower() for secret in each.secret_keys}
    ]


def _told(faults: list[QueryError], payloads: bool, schema: str) -> Flow[QueryError]:
    """All of them together; what is unknown as a term may be an argument that a job type declares."""
    known: dict[str, str] = {}
    if payloads and any(fault.term is not None for fault in faults):
        declared = yield from _declared(None, schema)
        known = {name.lower(): f"{ARGS}{name}: of type:{written(key)}" for key, name, _rule in declared}
    return together(
        [
            QueryError(
                fault.at,
                fault.length,
                f"unknown term {fault.term[:40]!r}; did you mean {known[fault.term.lower()]}?",
            )
            if fault.term is not None and fault.term.lower() in known
            else fault
            for fault in faults
        ]
    )


def _types(filter: Mapping[str, Any]) -> list[str]:
    """The job types of which alone a filter finds any; none: it names none."""
    return next(
        (each["values"] for each in filter["terms"] if each["field"] == "type" and not each["not"]), []
    )


def _unknown(term: Term, value: Asked, schema: str) -> Flow[str]:
    known: list[tuple[str, str | None]] = yield store.read_facets(term.name, "", most=1000, schema=schema)
    names = [each for each, _ in known]
    meant = suggest(value.text, names)
    hint = f"; did you mean {meant!r}?" if meant else ""
    noun = {"op": "operation", "error": "error group or class", "type": "job type"}.get(term.name, term.name)
    return f"there is no {noun} {value.text[:80]!r} here{hint}"


def _check_args(
    term: Term, query: Query, names: dict[tuple[str, str], list[str]], payloads: bool, schema: str
) -> Flow[None]:
    """An argument is looked for among the jobs of named types only: so it is known which arguments are secrets."""
    start = term.at + term.negative
    if not payloads:
        raise QueryError(start, len(term.name), "your role may not read payloads, and so not find by them")
    types = {
        key
        for each in query.named("type")
        if not each.negative
        for value in each.values
        for key in names.get(("type", value.text), ())
    }
    if not types:
        raise QueryError(start, len(term.name), f"add the job type that has this argument: type:… {term}")
    rules: dict[str, EnqueueRules] = yield enqueue_rules(sorted(types), schema=schema)
    for key in types:
        secret = {each.lower() for each in rules[key].secret_keys} if key in rules else set()
        if any(part.lower() in secret for part in term.path):
            why = f"{term.name!r} is secret in {key}, and cannot be searched"
            raise QueryError(start, len(term.name), why)
