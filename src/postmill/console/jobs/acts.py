"""What is done to jobs that somebody has chosen: at once, in one request, each in the audit log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from starlette.responses import Response

from postmill.console.frame.arguments import as_id, refused
from postmill.console.frame.nav import N_
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _, many
from postmill.domain.access import Action
from postmill.domain.job_options import INT_MAX
from postmill.domain.tags import changes
from postmill.operate import commands
from postmill.store.flow import Flow

MOST = 500
"""Jobs of one request; for more there are bulk operations."""


@dataclass(frozen=True, slots=True)
class Act:
    """One thing to be done. `done`: the statuses of those to which it happened; `field`: it asks for something; `ops`: only
    the platform's people do it. All of it is also done to all that match, by the wizard.
    """

    name: str
    label: str
    action: Action
    done: frozenset[str]
    danger: bool = False
    field: bool = False
    ops: bool = False


ACTS = (
    Act("retry", N_("Retry"), Action.JOBS_RETRY, frozenset({"due", "replayed"})),
    Act("replay", N_("Replay"), Action.DEAD_REPLAY, frozenset({"replayed"})),
    Act("cancel", N_("Cancel"), Action.JOBS_CANCEL, frozenset({"canceled", "requested"}), danger=True),
    Act("discard", N_("Discard"), Action.DEAD_DISCARD, frozenset({"discarded"}), danger=True),
    Act("priority", N_("Change priority"), Action.JOBS_PRIORITY, frozenset({"changed"}), field=True),
    Act("move", N_("Change queue"), Action.QUEUES_WRITE, frozenset({"changed"}), field=True, ops=True),
    Act("run_at", N_("Run at…"), Action.JOBS_PRIORITY, frozenset({"changed"}), field=True),
    Act("tag", N_("Tag"), Action.JOBS_TAG, frozenset({"changed"}), field=True),
)


async def act(visit: Visit) -> Response:
    """Reads the form: `one` (`cancel:<id>`), or `act` and the repeated `id`; `reason`, `confirm`, and what the act asks for."""
    form = visit.form
    one = form.text("one")
    name, _colon, id = one.partition(":")
    ids = [as_id(id, "one")] if one else form.ids("id")
    found = next((each for each in ACTS if each.name == (name if one else form.text("act"))), None)
    if found is None:
        raise refused("act", _("choose what to do: %s") % ", ".join(each.name for each in ACTS))
    if not visit.may(found.action):
        detail = f"the role {visit.asked.principal.role} may not {found.action}"
        raise await visit.asked.denied(found.action, detail, target="POST jobs/act")
    if not ids:
        return visit.done(_("Nothing was chosen, so nothing was done."), visit.back(), kind="warning")
    if len(ids) > MOST:
        raise refused("id", _("at most %s jobs at once; for more begin a bulk operation") % f"{MOST:,}")
    answers = await visit.drive(_flow(visit, found.name, list(dict.fromkeys(ids))))
    said, kind = summed(found, answers)
    return visit.done(said, visit.back(), kind=kind)


def _flow(visit: Visit, name: str, ids: Sequence[UUID]) -> Flow[Any]:
    reason, schema = visit.form.text("reason", None), visit.schema
    confirm = visit.form.one_of("confirm", ("on",), "off") == "on"
    if reason is not None and len(reason) > 2000:
        raise refused("reason", _("has more than 2,000 characters"))
    priority = visit.form.whole("priority", None, least=-INT_MAX - 1, most=INT_MAX)
    if name == "priority" and priority is None:
        raise refused("priority", _("expected a number; a lower one is sooner"))
    flows: dict[str, Callable[[], Flow[Any]]] = {
        "retry": lambda: commands.retry(ids, confirm=confirm, schema=schema),
        "replay": lambda: commands.replay(ids, confirm=confirm, schema=schema),
        "cancel": lambda: commands.cancel(ids, reason=reason, schema=schema),
        "discard": lambda: commands.discard(ids, reason=reason, schema=schema),
        "priority": lambda: commands.prioritize(ids, priority or 0, reason=reason, schema=schema),
        "move": lambda: commands.move_some(ids, visit.form.text("queue"), reason=reason, schema=schema),
        "run_at": lambda: commands.schedule(ids, _moment(visit), reason=reason, schema=schema),
        "tag": lambda: commands.tag(ids, changes(visit.form.text("tags")), reason=reason, schema=schema),
    }
    return flows[name]()


def _moment(visit: Visit) -> datetime:
    try:
        moment = datetime.fromisoformat(visit.form.text("run_at"))
    except ValueError:
        raise refused("run_at", _("must be a moment such as 2026-02-16T10:30, in UTC")) from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def summed(act: Act, answers: Sequence[Any]) -> tuple[str, str]:
    """What came of it in words, those first to which it happened; and how well."""
    counts = Counter(answer.status for answer in answers)
    done = sum(n for status, n in counts.items() if status in act.done)
    said = f"{_(act.label)}: " + many("%s job done", "%s jobs done", done) % f"{done:,}"
    rest = [
        f"{n:,} {status.replace('_', ' ')}" for status, n in counts.most_common() if status not in act.done
    ]
    if rest:
        said += "; " + _("left as they are: %s") % ", ".join(rest)
    return said + ".", "done" if not rest else "warning" if done else "refused"
