"""An incident as a row: what it is in words, what is suspected, and where each of it leads to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.console.failures.replaying import wizard
from postmill.console.frame.pauses import paused_until
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages.changed import worker_name
from postmill.domain.queue import check_runbook
from postmill.operate.incident_kin import Kin
from postmill.store.fleet import Depth
from postmill.store.incidents import IncidentView
from postmill.store.now import NewError, Scene


@dataclass(frozen=True, slots=True)
class Also:
    """Another incident of the same cause, with its kind in words, its title and where one finds what is wrong."""

    incident: IncidentView
    what: str
    title: str
    opens: str


@dataclass(frozen=True, slots=True)
class Row:
    """An incident on a page.

    Attributes:
        what: its kind in words.
        opens: where one finds what is wrong.
        cause, cause_href: what is suspected, and where that is.
        replay: where its dead letters are replayed; None: it has none.
        also: what else is wrong for the same cause.
        title: what is wrong, without what `what` says.
        held: what of it is paused, and until when; `resumes`: where that is ended.
        waiting: of a late queue whose jobs wait, by slug, the most first.
        silent_for: seconds since something failed last, where nothing did in the last whole minute.
        runbook: an address outside, checked when it was declared; `action`: what its job type says is to be done.
    """

    incident: IncidentView
    scene: Scene | None
    what: str
    opens: str
    cause: str | None
    cause_href: str | None
    replay: str | None
    title: str
    held: str | None
    resumes: str | None
    runbook: str | None
    action: str | None
    also: list[Also]
    silent_for: float | None
    waiting: list[tuple[str, int]]

    @property
    def happens(self) -> str:
        """What its rate counts, in words."""
        return _("jobs ended") if self.incident.kind == "sla_breach" else _("attempts failed")

    @property
    def jobs(self) -> int:
        """How many are affected. Letters are counted at once, the incident's jobs some seconds later: the same number stands
        wherever they are told."""
        open_now = self.scene.letters if self.scene and self.incident.kind == "job_exhausted" else None
        return max(self.incident.jobs, open_now or 0)

    @property
    def open_ids(self) -> list[UUID]:
        """Those that nobody has taken yet, beside the first."""
        return [one.incident.id for one in self.also if one.incident.acknowledged_at is None]


def row(visit: Visit, kin: Kin, scenes: Mapping[UUID, Scene], depths: Sequence[Depth] = ()) -> Row:
    """All that is shown of what has one cause. `depths`: who waits where."""
    incident = kin.head
    scene = scenes.get(incident.id)
    cause, href = _cause(visit, incident, scene)
    return Row(
        incident, scene, kind(incident.kind), _opens(visit, incident), cause, href, _replay(visit, incident),
        _title(incident, scene), *_held(visit, scene), _runbook(scene), scene.action if scene else None,
        [Also(one, kind(one.kind), _title(one, scenes.get(one.id)), _opens(visit, one)) for one in kin.others],
        _silent(scene, visit.now), _waiting(incident, depths),
    )  # fmt: skip


def nobody_named(kin: Sequence[Kin]) -> bool:
    """Whether a queue is late and nothing has failed in it: then it is not known yet whom that hurts."""
    late = [one.head for one in kin if one.head.kind == "sla_breach"]
    return any(not one.tenants and one.queue for one in late)


def _waiting(incident: IncidentView, depths: Sequence[Depth]) -> list[tuple[str, int]]:
    if incident.kind != "sla_breach" or incident.tenants:
        return []
    named = [one for one in depths if one.queue == incident.queue and one.state == "queued" and one.n]
    return sorted(
        ((one.tenant, one.n) for one in named if one.tenant not in ("", "other")), key=lambda one: -one[1]
    )


def _silent(scene: Scene | None, now: datetime | None) -> float | None:
    if scene is None or not scene.silent or scene.failed_at is None or now is None:
        return None
    return (now - scene.failed_at).total_seconds()


def began(incidents: Sequence[IncidentView]) -> dict[str, datetime]:
    """Since when there are incidents of each kind."""
    found: dict[str, datetime] = {}
    for one in incidents:
        found[one.kind] = min(found.get(one.kind, one.opened_at), one.opened_at)
    return found


def called(fresh: Sequence[NewError]) -> list[tuple[NewError, str]]:
    """New causes of failures by the names of their errors; where two are named alike, with what they say."""
    names = [one.error_class.rpartition(".")[2] for one in fresh]
    alike = Counter(names)
    return [
        (one, f"{name}: {one.message}" if alike[name] > 1 and one.message else name)
        for one, name in zip(fresh, names, strict=True)
    ]


def runbooks(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Each runbook once, with the name of what it is for."""
    found = {one.runbook: one.incident.queue or one.what for one in rows if one.runbook}
    return [(name, address) for address, name in found.items() if address]


def kind(name: str) -> str:
    """A kind of incident in words."""
    return {
        "sla_breach": _("Queue breach"),
        "job_exhausted": _("Dead letters"),
        "dead_letters": _("Many dead letters"),
        "stale_workers": _("Stale workers"),
        "missed_trigger": _("Trigger missed"),
        "budget": _("Budget"),
        "notification": _("Channel fails"),
        "error_spike": _("Error spike"),
        "replica_lag": _("Replica lag"),
    }.get(name, name)


def _title(incident: IncidentView, scene: Scene | None) -> str:
    number, _space, rest = incident.title.partition(" ")
    if (
        incident.kind == "dead_letters"
        and scene is not None
        and scene.letters is not None
        and number.isdigit()
    ):
        return f"{scene.letters:,} {rest}"  # as many as there are now; the title is of when somebody was told
    given_up = f"{incident.job_type} was given up: "
    if incident.kind == "job_exhausted" and incident.title.startswith(given_up):
        return f"{incident.job_type}: {incident.title.removeprefix(given_up)}"
    return incident.title


def _held(visit: Visit, scene: Scene | None) -> tuple[str | None, str | None]:
    if scene is None or scene.held_name is None:
        return None, None
    to = "/queues/%s/resume" if scene.held_kind == "queue" else "/definition-resume/%s"
    return paused_until(scene.held_name, scene.held_until, visit.now), visit.url(to % scene.held_name)


def _opens(visit: Visit, incident: IncidentView) -> str:
    facts = incident.facts
    match incident.kind:
        case "sla_breach" if incident.queue:
            return visit.url(f"/queues/{incident.queue}")
        case "job_exhausted" | "error_spike" if _group(facts):
            return visit.url(f"/errors/{_group(facts)}")
        case "job_exhausted" | "dead_letters":
            return _letters(visit, incident)
        case "stale_workers":
            return visit.url("/workers")
        case "missed_trigger" if facts.get("trigger_id"):
            return visit.url(f"/triggers/{facts['trigger_id']}")
        case "budget":
            return visit.url("/budgets")
        case "replica_lag":
            return visit.url("/system")
        case _:
            return visit.url(incident=incident.id)


def _replay(visit: Visit, incident: IncidentView) -> str | None:
    if incident.kind not in ("job_exhausted", "dead_letters") or incident.resolved_at is not None:
        return None
    return wizard(visit, error=_group(incident.facts), job_type=incident.job_type, queue=_queue(incident))


def _letters(visit: Visit, incident: IncidentView) -> str:
    return visit.url(
        "/dead", error_group=_group(incident.facts), type=incident.job_type, queue=_queue(incident)
    )


def _queue(incident: IncidentView) -> str | None:
    # A type's letters are all of one cause, wherever they were moved to.
    return None if incident.job_type else incident.queue


def _group(facts: dict[str, object]) -> str | None:
    """The error group, where its cause is one: sixteen hexadecimal digits."""
    found = facts.get("group")
    fine = isinstance(found, str) and len(found) == 16 and all(digit in "0123456789abcdef" for digit in found)
    return str(found) if fine else None


def _runbook(scene: Scene | None) -> str | None:
    try:
        return check_runbook(scene.runbook) if scene else None
    except ValueError:  # written by plain SQL
        return None


def _cause(visit: Visit, incident: IncidentView, scene: Scene | None) -> tuple[str | None, str | None]:
    if scene is None or scene.cause is None:
        return None, None
    ref, detail = scene.cause_ref or "", scene.cause_detail
    match scene.cause:
        case "paused":
            why = f": {detail}" if detail else ""
            return _("queue %(queue)s is paused%(why)s") % {"queue": ref, "why": why}, visit.url(
                f"/queues/{ref}"
            )
        case "type_paused":
            why = f": {detail}" if detail else ""
            told = _("%(type)s is paused%(why)s") % {"type": ref, "why": why}
            return told, visit.url(f"/definitions/{ref}")
        case "was_paused":
            told = _("works off what a pause of %s held back until") % ref
            return told, visit.url(f"/queues/{incident.queue}")
        case "no_workers":
            return _("no worker serves %s") % ref, visit.url("/workers")
        case "worker_lost":
            return _("worker %s was lost shortly before") % worker_name(ref), visit.url(f"/workers/{detail}")
        case "deploy" if detail:
            told = _("first %(error)s after %(version)s") % {
                "error": detail.rpartition(".")[2],
                "version": ref,
            }
            return told, visit.url(f"/definitions/{ref.rpartition(' v')[0]}")
        case "deploy":
            return _("%s came shortly before") % ref, visit.url(f"/definitions/{ref.rpartition(' v')[0]}")
        case "build":
            when = _("build %s") % ref
            told = (
                _("first %(error)s after %(version)s")
                % {
                    "error": detail.rpartition(".")[2],
                    "version": when,
                }
                if detail
                else _("%s came shortly before") % when
            )
            group = _group(incident.facts) or scene.error_group
            return told, visit.url(f"/errors/{group}") if group else visit.url(
                "/workers", build=ref, seen="24h"
            )
        case "db_wait":
            return _("the database: %s statements wait for locks") % ref, visit.url("/system")
        case _:
            return _("new error %s") % (detail or "").rpartition(".")[2], visit.url(f"/errors/{ref}")
