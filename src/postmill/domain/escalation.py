"""Who is told of an incident, how, and by when: policies of steps, and the channels that stand in for one another.

Source: seed 1, sections 1 (owner contacts), 5 (paths and response times) and 8; "SLA and escalation" of the operations design.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from itertools import accumulate
from typing import Literal

from postmill.domain import duration
from postmill.domain.business_hours import Hours, daily

Severity = Literal["info", "warning", "critical"]
IncidentKind = Literal[
    "sla_breach", "job_exhausted", "dead_letters", "stale_workers", "missed_trigger", "budget", "notification",
    "error_spike", "replica_lag",
]  # fmt: skip
KINDS: tuple[IncidentKind, ...] = (
    "sla_breach", "job_exhausted", "dead_letters", "stale_workers", "missed_trigger", "budget", "notification",
    "error_spike", "replica_lag",
)  # fmt: skip
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "critical")
STATUSES = ("open", "acknowledged", "resolved", "live")
"""What incidents can be asked for by; `live` is all that are not resolved."""

MOST_REPEATS = 10
"""So often the last step is taken again at most, while nobody acknowledges."""

_STEP = re.compile(r"\s*(?P<channel>\S(?:.*?\S)?)(?:\s+after\s+(?P<after>\S+(?:\s*\S+)?))?\s*")


@dataclass(frozen=True, slots=True)
class Step:
    """Tell a channel, so many seconds after the step before: the response time of whom that one told."""

    channel: str
    after: float = 0.0


def parse_step(text: str) -> Step:
    """A step such as `#ops-alerts` or `lead after 15m`. ValueError for anything else."""
    found = _STEP.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no step; write the name of a channel, or CHANNEL after 15m")
    after = found["after"]
    return Step(found["channel"], 0.0 if after is None else duration.parse(after, "the time after a step"))


@dataclass(frozen=True, slots=True)
class Taken:
    """What is to be done now: channels to tell (with the number of their step), the next step, and when it is due."""

    told: tuple[tuple[str, int], ...]
    next_step: int
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class Policy:
    """Steps that are taken until somebody acknowledges, or it is over.

    Attributes:
        hours: the hours in which response times count; None: around the clock.
        repeat: seconds after the last step until that one is taken again; None: never.
    """

    name: str
    steps: tuple[Step, ...]
    hours: Hours | None = None
    repeat: float | None = None

    def take(self, step: int, since: datetime, now: datetime, *, over: bool = False) -> Taken:
        """The steps from number `step` on that are due, of an incident that people are to be told of since `since`.

        `over`: it was acknowledged, or has ended, before anybody was told: so those hear of it who are told at once.
        """
        told: list[tuple[str, int]] = []
        waits = list(accumulate(one.after for one in self.steps))
        while (place := self._place(step, waits)) is not None:
            channel, wait = place
            due = since if wait == 0 else self._after(since, wait)
            if over and wait > 0:
                break
            if due > now:
                return Taken(tuple(told), step, due)
            told.append((channel, step))
            step += 1
        return Taken(tuple(told), max(step, 1), None)

    def _place(self, step: int, waits: list[float]) -> tuple[str, float] | None:
        """The channel of a step, and its seconds since the beginning."""
        last = len(self.steps) - 1
        if step <= last:
            return self.steps[step].channel, waits[step]
        if self.repeat is None or step > last + MOST_REPEATS:
            return None
        return self.steps[last].channel, waits[last] + (step - last) * self.repeat

    def _after(self, since: datetime, seconds: float) -> datetime:
        return since + timedelta(seconds=seconds) if self.hours is None else self.hours.after(since, seconds)


@dataclass(frozen=True, slots=True)
class Outlet:
    """A channel as escalation sees it.

    Attributes:
        fallback: the channel that is told instead where this one does not work.
        hours: when it may be used; outside of them what is not critical waits.
        digest: the time of the day at which all is told together, by the clock of `zone`; None: at once.
    """

    name: str
    fallback: str | None = None
    hours: Hours | None = None
    digest: time | None = None
    zone: str = "UTC"

    def due(self, severity: str, now: datetime) -> datetime:
        """When it may be told."""
        if self.digest is not None:
            return daily(self.digest, self.zone, now)
        return now if self.hours is None or severity == "critical" else self.hours.opens(now)


@dataclass(frozen=True, slots=True)
class Escalation:
    """All of it: channels and policies by name, and which one is for what.

    Attributes:
        kinds: policies for kinds of incidents that are named; they win over those of queues.
        default: the policy for what has none; None: the first channel there is.
    """

    outlets: Mapping[str, Outlet] = field(default_factory=dict)
    policies: Mapping[str, Policy] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    default: str | None = None

    def policy(
        self,
        kind: str,
        key: str,
        *,
        contact: str | None = None,
        escalation: str | None = None,
        failing: Collection[str] = (),
    ) -> Policy | None:
        """Whom an incident of this kind is told; None: nobody is there.

        Args:
            kind, key: of the incident.
            contact, escalation: of the queue that it is about, if it is about one.
            failing: channels that do not work now.
        """
        if kind == "notification":
            other = self.fallback(key, failing)
            return None if other is None else self._named(other)
        wanted = [self.kinds.get(kind), escalation, self.default, next(iter(self.outlets), None)]
        if kind == "sla_breach":
            wanted.insert(0, contact)
        elif kind == "budget":
            # Money is for the daily digest, not for the pager, where nobody said otherwise.
            wanted.insert(
                2, next((name for name, one in self.outlets.items() if one.digest is not None), None)
            )
        return next((found for name in wanted if name and (found := self._named(name)) is not None), None)

    def _named(self, name: str) -> Policy | None:
        """The policy of this name, or the one of a single step for the channel of this name."""
        found = self.policies.get(name)
        if found is None and name in self.outlets:
            found = Policy(name, (Step(name),))
        return found

    def fallback(self, channel: str, failing: Collection[str] = ()) -> str | None:
        """The channel that is told in the place of one that does not work: never itself, and none that fails, too."""
        left = [name for name in self.outlets if name != channel and name not in failing]
        named = self.outlets[channel].fallback if channel in self.outlets else None
        seen = {channel}
        while named is not None and named not in seen:
            if named in left:
                return named
            seen.add(named)
            named = self.outlets[named].fallback if named in self.outlets else None
        following = [
            later.channel
            for policy in self.policies.values()
            for n, one in enumerate(policy.steps)
            if one.channel == channel
            for later in policy.steps[n + 1 :]
        ]
        prompt = [name for name in left if self.outlets[name].digest is None]
        return next((name for name in (*following, *prompt, *left) if name in left), None)
