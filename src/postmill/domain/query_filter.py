"""A query as the database is asked it: one JSON object, in which names are ids and every state stands for itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from postmill.domain.lifecycle import State
from postmill.domain.query import Asked, Query, Term
from postmill.domain.query_fields import ARGS, REPLAYED, RETRYING

Names = Mapping[tuple[str, str], Sequence[str]]
"""What a name of a term stands for: ("tenant", "acme") → its id, ("type", "an alias") → the key, ("error", "3fa9") → groups."""

RESOLVED = ("type", "queue", "tenant", "error", "trigger", "worker", "build", "op")
"""Terms whose values are names of something that the database knows."""


def job_filter(query: Query, names: Names) -> dict[str, Any]:
    """What `read_matching` takes: `{"states": […], "terms": [{"field", "not", …}, …]}`.

    `states` is missing where every state will do. A negative state is the others: all of them but succeeded are found by
    an index.
    """
    made: dict[str, Any] = {}
    states = _states(query.named("state"))
    if states is not None:
        made["states"] = states
    made["terms"] = [_term(term, names) for term in query.terms if term.name != "state"]
    return made


def _states(terms: Sequence[Term]) -> list[str] | None:
    """The states that are left, `retrying` among them only where `scheduled` is not; None: all."""
    if not terms:
        return None
    every = {str(state) for state in State} | {REPLAYED}
    left = every | {RETRYING, "not yet"}
    for term in terms:
        meant = {part for value in term.values for part in _parts(value.text)}
        left = left - meant if term.negative else left & meant
    left.discard(str(State.SCHEDULED))
    if {RETRYING, "not yet"} <= left:
        left = left - {RETRYING, "not yet"} | {str(State.SCHEDULED)}
    if left == every:
        return None
    # What is scheduled and has not failed before has no name of its own.
    return sorted("first" if state == "not yet" else state for state in left)


def _parts(state: str) -> set[str]:
    """Scheduled is both: what is retrying, and what has not run yet."""
    return {RETRYING, "not yet", state} if state == State.SCHEDULED else {state}


def _term(term: Term, names: Names) -> dict[str, Any]:
    if term.name.startswith(ARGS):
        any_of = [part for value in term.values for part in contained(term.path, value)]
        return {"field": "args", "not": term.negative, "any_of": any_of}
    first = term.values[0]
    if term.name in ("attempt", "ran"):
        return {"field": term.name, "not": term.negative, "op": first.op, "number": first.number}
    if term.name in ("since", "until"):
        when = {"ago": first.number} if first.moment is None else {"at": first.moment.isoformat()}
        return {"field": term.name, "not": False} | when
    if term.name == "age":
        return {"field": "until" if first.op in (">", ">=") else "since", "not": False, "ago": first.number}
    if term.name in ("id", "workflow", "batch"):
        return {"field": term.name, "not": term.negative, "ranges": [_range(value) for value in term.values]}
    if term.name in RESOLVED:
        values = [each for value in term.values for each in names.get((term.name, value.text), ())]
        return {"field": term.name, "not": term.negative, "values": values}
    return {"field": term.name, "not": term.negative, "values": [value.text for value in term.values]}


def _range(value: Asked) -> list[str]:
    """The lowest and the highest id that begins so."""
    digits = value.text.replace("-", "")[:32]
    return [digits.ljust(32, "0"), digits.ljust(32, "f")]


def contained(path: Sequence[str], value: Asked) -> list[Any]:
    """What a payload must contain (`@>`): the text, and unless it was quoted the number or truth value that it spells;
    each also as one of a list.
    """
    leaves: list[Any] = [value.text]
    if not value.quoted:
        try:
            leaf = json.loads(value.text)
        except (ValueError, RecursionError):
            leaf = value.text
        if leaf is None or isinstance(leaf, bool | int) or (isinstance(leaf, float) and abs(leaf) < 1e300):
            leaves.append(leaf)
    found = []
    for leaf in leaves:
        for end in (leaf, [leaf]):
            made = end
            for part in reversed(path):
                made = {part: made}
            found.append(made)
    return found
