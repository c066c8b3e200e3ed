"""Triggers in words: when they run, what their runs came to, and what will keep them from running."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise, takewhile
from uuid import UUID

from markupsafe import Markup

from postmill.console.charts import Cell, Look, strip
from postmill.console.frame.shown import moment, seconds
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.cron import cron_line
from postmill.operate.triggers import Run
from postmill.store.trigger_runs import TriggerRun, TriggerStanding
from postmill.store.triggers import TriggerView

RUNS = 20

_LOOKS: dict[str, Look] = {
    "succeeded": "ok",
    "failed": "bad",
    "dead_letter": "bad",
    "canceled": "warn",
    "refused": "bad",
    "skipped": "warn",
    "duplicate": "warn",
}


def waits_for(trigger: TriggerView) -> str:
    """`At 08:00 on Monday through Friday, Europe/Berlin`; `every 15 min`; `user.created`."""
    if trigger.trigger_type == "event":
        return trigger.event_name or ""
    if trigger.every_seconds is not None:
        return _("every %s") % seconds(trigger.every_seconds)
    told = "; ".join(_line(line) for line in (trigger.cron_expr or "").splitlines() if line.strip())
    return f"{told}, {trigger.timezone}"


def kind_of(trigger: TriggerView) -> str:
    """Cron, interval or event."""
    if trigger.trigger_type == "event":
        return _("event")
    return _("interval") if trigger.every_seconds is not None else _("cron")


def outcome_of(run: TriggerRun) -> str:
    """Where the run has come: the state of its job, or what became of it without one."""
    return run.state or run.outcome


def strip_of(trigger: TriggerView, runs: list[TriggerRun], visit: Visit) -> Markup | None:
    """The last runs, the oldest first; None: there are none."""
    if not runs:
        return None
    cells = [
        Cell(
            f"{moment(run.at)}: {_(outcome_of(run))}" + (f" – {run.detail[:200]}" if run.detail else ""),
            _LOOKS.get(outcome_of(run), "series-1"),
            None if run.job_id is None else visit.url(f"/jobs/{run.job_id}"),
        )
        for run in reversed(runs[:RUNS])
    ]
    return strip(cells, title=_("Last runs of %s") % trigger.label)


_WAITS = "the job of the run before is not over: "
"""How the reason of a run begins that was left out for the job before it; its id follows."""

_LONG = 3
"""So many such runs one after the other are told of."""


@dataclass(frozen=True, slots=True)
class HeldUp:
    """A schedule that waits for a job of its own. `n`: how many runs were left out so far; `more`: at least."""

    job_id: UUID
    n: int
    more: bool

    @property
    def said(self) -> str:
        """What it waits for, in words."""
        n = f"{self.n:,}{'+' if self.more else ''}"
        return _("the last %s runs were left out: its job before is not over") % n


def blocker(detail: str | None) -> UUID | None:
    """The job that a run was left out for; None: it was not."""
    if detail is None or not detail.startswith(_WAITS):
        return None
    try:
        return UUID(detail.removeprefix(_WAITS))
    except ValueError:
        return None


def held_up(trigger: TriggerView, runs: Sequence[TriggerRun]) -> HeldUp | None:
    """Whether its last runs, the newest first, were left out one after the other since a job of its own is not over."""
    out = list(takewhile(lambda run: run.outcome == "skipped" and blocker(run.detail), runs))
    job = blocker(out[0].detail) if out else None
    if job is None or len(out) < _LONG or not trigger.is_enabled:
        return None
    return HeldUp(job, sum(run.ticks for run in out), len(out) >= RUNS)


def hints(
    trigger: TriggerView, stands: TriggerStanding | None, runs: list[TriggerRun], now: datetime
) -> list[str]:
    """What keeps it from doing what it should, or makes one wonder."""
    found = []
    if stands is not None and stands.paused:
        why = f" ({stands.pause_reason[:200]})" if stands.pause_reason else ""
        found.append(_("the target queue %s is paused") % stands.queue + why)
    if stands is not None and not stands.is_active:
        found.append(_("the definition %s is not active: runs are refused") % trigger.definition_key)
    elif stands is not None and stands.served is False:
        found.append(_("no live worker runs %s") % trigger.definition_key)
    if trigger.broken:
        found.append(_("the schedule cannot be planned: %s") % (trigger.error or "")[:300])
    elif trigger.error:
        found.append(_("the last run failed: %s") % trigger.error[:300])
    if (held := held_up(trigger, runs)) is not None:
        found.append(held.said)
    if not runs and trigger.last_run_at is None and not _waits_for_its_first(trigger, now):
        found.append(_("never fired"))
    return found


def offsets_change(runs: list[Run]) -> set[datetime]:
    """Of due moments, those before which the clock on the wall was changed."""
    return {
        later.due for earlier, later in pairwise(runs) if earlier.local.utcoffset() != later.local.utcoffset()
    }


def _waits_for_its_first(trigger: TriggerView, now: datetime) -> bool:
    """A schedule whose first run is still to come. It is planned some seconds after it was made."""
    first = trigger.next_run_at or trigger.created_at + timedelta(minutes=1)
    return trigger.trigger_type == "schedule" and trigger.is_enabled and first > now


def _line(text: str) -> str:
    try:
        return cron_line(text).words()
    except ValueError:
        return text
