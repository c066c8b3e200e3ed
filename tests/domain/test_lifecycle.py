import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from postmill.domain.lifecycle import (
    ENTRY,
    LIVE,
    TERMINAL,
    TRANSITIONS,
    IllegalTransition,
    State,
    Verb,
    sources,
    target,
)

# Written out a second time, from the drawing in the overview: a slip in the table shows here.
LAWFUL: dict[str, dict[str, str | None]] = {
    "promote": {"scheduled": "queued", "blocked": "queued"},
    "claim": {"queued": "running"},
    "renew": {"running": "running"},
    "complete": {"running": "succeeded"},
    "retry": {"running": "scheduled", "scheduled": "queued"},
    "snooze": {"running": "scheduled"},
    "fail": {"running": "failed"},
    "bury": {"running": "dead_letter"},
    "cancel": {"scheduled": "canceled", "queued": "canceled", "blocked": "canceled", "running": "canceled"},
    "release": {"running": "queued"},
    "rescue": {"running": "scheduled"},
    "replay": {"dead_letter": "dead_letter", "failed": "failed", "canceled": "canceled"},
    "discard": {"dead_letter": "failed"},
    "prune": {"succeeded": None, "failed": None, "canceled": None, "dead_letter": None},
    "enqueue": {},
}


@pytest.mark.parametrize("verb", list(Verb))
@pytest.mark.parametrize("state", list(State))
def test_every_verb_on_every_state(verb: Verb, state: State) -> None:
    if state in LAWFUL[verb]:
        assert target(verb, state) == LAWFUL[verb][state]
        assert state in sources(verb)
    else:
        with pytest.raises(IllegalTransition) as caught:
            target(verb, state)
        assert caught.value.allowed == sources(verb)
        assert f"cannot {verb} a job that is {state}" in str(caught.value)


def test_the_words_are_the_glossarys() -> None:
    assert set(State) == {
        "scheduled", "queued", "running", "succeeded", "failed", "canceled", "dead_letter", "blocked"
    }  # fmt: skip
    assert sorted(Verb) == sorted(LAWFUL)
    assert frozenset(State) == LIVE | TERMINAL
    assert not LIVE & TERMINAL
    assert ENTRY < LIVE


class Life(RuleBasedStateMachine):
    """Whatever happens to a job, in whatever order."""

    @initialize(state=st.sampled_from(sorted(ENTRY)))
    def enqueue(self, state: State) -> None:
        self.state: State | None = state
        self.ended: State | None = None

    @rule(verb=st.sampled_from(sorted(Verb)))
    def happen(self, verb: Verb) -> None:
        if self.state is None:
            return  # pruned
        try:
            self.state = target(verb, self.state)
        except IllegalTransition:
            return
        if self.ended is not None and self.state not in (None, self.ended):
            assert (verb, self.ended, self.state) == (Verb.DISCARD, State.DEAD_LETTER, State.FAILED)
        if self.state in TERMINAL:
            self.ended = self.state

    @invariant()
    def an_ended_job_never_lives_again(self) -> None:
        assert self.ended is None or self.state not in LIVE

    @invariant()
    def a_live_job_is_never_stuck(self) -> None:
        if self.state in LIVE:
            assert reachable(self.state) & TERMINAL == TERMINAL


def reachable(state: State) -> set[State]:
    found, waiting = set[State](), {state}
    while waiting:
        current = waiting.pop()
        found.add(current)
        waiting |= {
            to for (_, source), to in TRANSITIONS.items() if source == current and to is not None
        } - found
    return found


TestLife = Life.TestCase
