"""The life of a job: its states, the verbs that move it, and the one table that says which move is lawful."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from postmill.domain.errors import PostmillError


class State(StrEnum):
    """Where a job is. The state of a job is the table that its ticket is in."""

    SCHEDULED = "scheduled"
    QUEUED = "queued"
    RUNNING = "running"
    BLOCKED = "blocked"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    DEAD_LETTER = "dead_letter"


class Verb(StrEnum):
    """What can happen to a job."""

    ENQUEUE = "enqueue"
    PROMOTE = "promote"
    CLAIM = "claim"
    RENEW = "renew"
    COMPLETE = "complete"
    RETRY = "retry"
    SNOOZE = "snooze"
    FAIL = "fail"
    BURY = "bury"
    CANCEL = "cancel"
    RELEASE = "release"
    RESCUE = "rescue"
    REPLAY = "replay"
    DISCARD = "discard"
    PRUNE = "prune"


LIVE = frozenset({State.SCHEDULED, State.QUEUED, State.RUNNING, State.BLOCKED})
"""States of jobs that will still run, or do."""

TERMINAL = frozenset(State) - LIVE
"""States that end a job. An operator may replay one that did not succeed, and discard a dead letter."""

ENTRY = frozenset({State.SCHEDULED, State.QUEUED, State.BLOCKED})
"""Where an enqueue can put a job: not yet due, due, or waiting for its parents."""

TRANSITIONS: Mapping[tuple[Verb, State], State | None] = MappingProxyType(
    {
        (Verb.PROMOTE, State.SCHEDULED): State.QUEUED,  # it is due
        (Verb.PROMOTE, State.BLOCKED): State.QUEUED,  # its parents have ended
        (Verb.CLAIM, State.QUEUED): State.RUNNING,
        (Verb.RENEW, State.RUNNING): State.RUNNING,
        (Verb.COMPLETE, State.RUNNING): State.SUCCEEDED,
        (Verb.RETRY, State.RUNNING): State.SCHEDULED,
        (Verb.RETRY, State.SCHEDULED): State.QUEUED,  # an operator does not want to wait for the delay
        (Verb.SNOOZE, State.RUNNING): State.SCHEDULED,
        (Verb.FAIL, State.RUNNING): State.FAILED,
        (Verb.BURY, State.RUNNING): State.DEAD_LETTER,
        (Verb.CANCEL, State.SCHEDULED): State.CANCELED,
        (Verb.CANCEL, State.QUEUED): State.CANCELED,
        (Verb.CANCEL, State.BLOCKED): State.CANCELED,
        (
            Verb.CANCEL,
            State.RUNNING,
        ): State.CANCELED,  # once its handler has ended; a request alone moves nothing
        (
            Verb.RELEASE,
            State.RUNNING,
        ): State.QUEUED,  # a draining worker gives it back, at no cost of an attempt
        (Verb.RESCUE, State.RUNNING): State.SCHEDULED,  # its holder's lease is over
        # A replay is a new job; the old one stays as it ended.
        (Verb.REPLAY, State.DEAD_LETTER): State.DEAD_LETTER,
        (Verb.REPLAY, State.FAILED): State.FAILED,
        (Verb.REPLAY, State.CANCELED): State.CANCELED,
        (Verb.DISCARD, State.DEAD_LETTER): State.FAILED,
        (Verb.PRUNE, State.SUCCEEDED): None,
        (Verb.PRUNE, State.FAILED): None,
        (Verb.PRUNE, State.CANCELED): None,
        (Verb.PRUNE, State.DEAD_LETTER): None,
    }
)
"""(verb, from) → to; None means gone. What is not here is refused. `enqueue` has no from: see ENTRY."""


class IllegalTransition(PostmillError):
    """The verb does not apply to a job in this state; `allowed` are the states that it does apply to."""

    def __init__(self, verb: Verb, state: State) -> None:
        self.verb = verb
        self.state = state
        self.allowed = sources(verb)
        super().__init__(verb, state)

    def __str__(self) -> str:
        from_states = ", ".join(sorted(self.allowed)) or "no existing job"
        return f"cannot {self.verb} a job that is {self.state}; it applies to: {from_states}"


def target(verb: Verb, state: State) -> State | None:
    """The state after `verb`; None where the job is then gone. Raises IllegalTransition."""
    try:
        return TRANSITIONS[verb, state]
    except KeyError:
        raise IllegalTransition(verb, state) from None


def sources(verb: Verb) -> frozenset[State]:
    """The states that `verb` applies to."""
    return frozenset(state for known, state in TRANSITIONS if known is verb)
