"""How many jobs are where, with how fast they come there: a count alone reads as nothing where jobs are quick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from postmill.console.frame.words import _
from postmill.domain.lifecycle import State
from postmill.store.reads import StateCount
from postmill.store.stats import Stat

LATELY = 5
"""Minutes of which rates are the average."""

SHOWN = (
    State.QUEUED, State.RUNNING, State.SCHEDULED, State.BLOCKED, State.SUCCEEDED, State.FAILED, State.DEAD_LETTER, State.CANCELED,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Card:
    """A state. `n` ends at 10,000 where `at_least`; `rate`: a minute, in words; None: it has none."""

    state: State
    n: int
    at_least: bool
    rate: str | None


def cards(counted: Sequence[StateCount], minutes: Sequence[Stat]) -> list[Card]:
    """One for each state; blocked and canceled ones only where there are any."""
    by_state = {State(one.state): one for one in counted}
    lately = minutes[-LATELY:]
    found = []
    for state in SHOWN:
        one = by_state.get(state)
        one = one and one.shown
        if one is None or (state in (State.BLOCKED, State.CANCELED, State.FAILED) and not one.n):
            continue
        found.append(Card(state, one.n, one.at_least, _rate(state, lately)))
    return found


def oldest(counted: Sequence[StateCount]) -> float | None:
    """Seconds for which the oldest queued job has been ready; None: none is."""
    return next((one.oldest_seconds for one in counted if one.state == State.QUEUED), None)


def _rate(state: State, lately: Sequence[Stat]) -> str | None:
    outcomes = {
        State.QUEUED: ("enqueued",),
        State.SCHEDULED: ("retried", "lost", "snoozed"),
        State.SUCCEEDED: ("succeeded",),
        State.FAILED: ("failed",),
        State.DEAD_LETTER: ("dead_letter",),
        State.CANCELED: ("canceled",),
    }.get(state)
    if outcomes is None:
        return None
    rate = sum(one.n(*outcomes) for one in lately) / LATELY
    words = (
        _("%s made a minute")
        if state is State.QUEUED
        else _("%s retries a minute")
        if state is State.SCHEDULED
        else _("%s a minute")
    )
    return words % (f"{rate:,.1f}".removesuffix(".0"))
