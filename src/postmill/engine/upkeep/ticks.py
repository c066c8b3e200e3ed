"""What a round of the scheduler does with the schedules that are due: pure, but for the rules of job types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from postmill.client.rendering import Wanted, rendered
from postmill.domain.missed import Due, Missed, due_now
from postmill.domain.schedule import Schedule, cron_schedule
from postmill.domain.template import SCHEDULE_ROOTS
from postmill.domain.trigger import jitter_of
from postmill.domain.trigger_context import common, instant, of_tick
from postmill.domain.zone import Dst
from postmill.store.firing import DueTrigger, Rendered, Row
from postmill.store.flow import Flow


@dataclass(slots=True)
class Work:
    """What to send: ticks to fire, and schedules to plan or to mark as broken."""

    ticks: list[Row] = field(default_factory=list)
    plans: list[Row] = field(default_factory=list)


def work_for(schema: str, due: Sequence[DueTrigger]) -> Flow[Work]:
    """What is to be done with these schedules. One that cannot be read keeps no other from its turn."""
    work = Work()
    steps: list[tuple[DueTrigger, dict[str, Any], Rendered | None]] = []
    for trigger in due:
        try:
            schedule = schedule_of(trigger)
            if trigger.next_run_at is None:
                work.plans.append(_plan(trigger, schedule.after(trigger.moment)))
            else:
                steps += _steps(trigger, schedule)
        except (ValueError, ArithmeticError) as fault:
            work.plans.append(broken(trigger, f"its schedule cannot be read: {str(fault)[:500]}"))
    wanted = [_wanted(trigger, facts["due"]) for trigger, facts, decided in steps if decided is None]
    payloads = iter((yield from rendered(schema, wanted)) if wanted else [])
    work.ticks = [Row(facts, decided or next(payloads)) for _, facts, decided in steps]
    several = Counter(row.facts["trigger_id"] for row in work.ticks)
    for row in work.ticks:
        alone = several[row.facts["trigger_id"]] == 1
        row.facts["plain"] = alone and row.rendered.payload is not None and row.rendered.key is None
    return work


def schedule_of(trigger: DueTrigger) -> Schedule:
    """When it is due. ValueError where what is stored is no schedule."""
    if trigger.every_seconds is not None:
        step = timedelta(seconds=trigger.every_seconds)
        return Schedule(every=step, timezone=trigger.timezone, anchor=trigger.anchored_at)
    return cron_schedule(trigger.cron_expr or "", trigger.timezone, Dst(trigger.dst))


def broken(trigger: DueTrigger, why: str) -> Row:
    """Takes a schedule out of the rounds until somebody edits it."""
    return Row({"trigger_id": trigger.id, "expected": trigger.next_run_at, "error": why})


def _plan(trigger: DueTrigger, due: datetime | None) -> Row:
    return Row({"trigger_id": trigger.id, "expected": None, "next": due})


def _steps(
    trigger: DueTrigger, schedule: Schedule
) -> list[tuple[DueTrigger, dict[str, Any], Rendered | None]]:
    """The ticks of one schedule, in order: each expects what the one before leaves behind."""
    assert trigger.next_run_at is not None
    missed = Missed(trigger.missed)
    found = due_now(schedule, trigger.next_run_at, trigger.moment, missed, trigger.missed_limit)
    dues = [*([found.left_out.first] if found.left_out else []), *found.run]
    steps: list[tuple[DueTrigger, dict[str, Any], Rendered | None]] = []
    expected = trigger.next_run_at
    for n, due in enumerate(dues):
        following = dues[n + 1] if n + 1 < len(dues) else found.next
        facts = {"trigger_id": trigger.id, "expected": expected, "due": due, "next": following}
        if n == 0 and found.left_out is not None:
            steps.append((trigger, facts | _stretch(found), Rendered(outcome="skipped", detail=_why(missed))))
        else:
            facts["correlation_id"] = f"{trigger.id}@{instant(due)}"
            if trigger.jitter_seconds:
                facts["run_at"] = due + jitter_of(trigger.id, due, trigger.jitter_seconds)
            steps.append((trigger, facts, None))
        if following is None:
            break
        expected = following
    return steps


def _stretch(found: Due) -> dict[str, Any]:
    assert found.left_out is not None
    return {"last_due": found.left_out.last, "ticks": found.left_out.ticks}


def _why(missed: Missed) -> str:
    return {
        Missed.SKIP: "missed, and missed ticks are left out",
        Missed.ONCE: "missed; the last of them runs for all",
        Missed.ALL: "missed, and more than missed_limit of them",
    }[missed]


def _wanted(trigger: DueTrigger, due: datetime) -> Wanted:
    known = common(trigger.id, trigger.label, trigger.tenant_id, trigger.tenant_slug, trigger.tenant_zone)
    known |= of_tick(due, trigger.timezone)
    return Wanted(trigger.tenant_id, trigger.job_type, trigger.payload_template, SCHEDULE_ROOTS, known)
