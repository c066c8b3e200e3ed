"""What may be done to one job, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from postmill.console.bulk.words import LABELS, WHAT
from postmill.console.frame.arguments import refused
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.access import Action
from postmill.domain.pace import MOST_PRIORITY, Kind
from postmill.domain.tags import changes
from postmill.operate import bulk, commands
from postmill.store.definition_rows import DefinitionView
from postmill.store.finding import FoundJob
from postmill.store.flow import Flow

WAITS = ("queued", "scheduled", "blocked")
DEAD = ("failed", "canceled", "dead_letter")


@dataclass(frozen=True, slots=True)
class Offered:
    """One act that suits the state of the job. `refused`: why it cannot be done all the same."""

    name: Kind
    label: str
    consequence: str
    action: Action
    danger: bool = False
    refused: str | None = None
    ask: bool = False


def offered(job: FoundJob, definition: DefinitionView | None, *, ops: bool) -> list[Offered]:
    """In the order in which they are thought of."""
    names: list[Kind] = []
    if job.state in DEAD:
        names.append("replay")
    if job.state == "scheduled":
        names.append("retry")
    if job.state in (*WAITS, "running"):
        names.append("cancel")
    if job.state == "dead_letter" and not job.replayed:
        names.append("discard")
    if job.state in WAITS:
        names += ["priority", "run_at", "move"] if ops else ["priority", "run_at"]
    names.append("tag")
    replay_class = "safe" if definition is None else definition.replay_class
    made = []
    for name in names:
        no = None
        if name == "replay" and replay_class == "never":
            no = _("Its job type says that it is never replayed.")
        elif name == "replay" and definition is None:
            no = _("Its job type is gone: register it again first.")
        elif name == "replay" and definition is not None and not definition.is_active:
            no = _("Its job type takes no new jobs.")
        elif name == "run_at" and job.state == "blocked":
            continue
        made.append(
            Offered(name, _(LABELS[name]), _(consequence(name, job)), bulk.NEEDS[name], name in ("cancel", "discard"), no,
                    name == "replay" and replay_class == "ask")
        )  # fmt: skip
    return made


def consequence(name: Kind, job: FoundJob) -> str:
    """What comes of it, in a sentence."""
    return {
        "replay": _("It runs again as a new job with the same arguments. This one stays in history, and each names the other."),
        "retry": _("Its next attempt is due at once. It counts as the attempt that it would have been anyway."),
        "cancel": _("Its worker is asked to stop it; it ends when the handler heeds that.") if job.state == "running"
                  else _("It ends here and never runs. This cannot be undone."),
        "discard": _("It is closed as failed, and nobody is asked about it again."),
        "priority": _("It goes to the end of its new place; a lower number is sooner."),
        "run_at": _("It is due at that moment instead of its own."),
        "tag": _("It is found by them, as tag:vip in a query; nothing else becomes of it. A minus takes one away: -old."),
        "move": _("It goes to the end of the other queue; further jobs of its job type do not follow."),
    }.get(name, _(WHAT[name]))  # fmt: skip


def flow(visit: Visit, name: Kind, id: UUID) -> Flow[Any]:
    """The act that a form asks for. Raises Problem (422) where the form lacks something."""
    form, schema = visit.form, visit.schema
    reason = form.text("reason", None)
    if reason is not None and len(reason) > 2000:
        raise refused("reason", _("has more than 2,000 characters"))
    confirm, despite = form.text("confirm") == "on", form.text("despite") == "on"
    again = form.text("again") == "on"
    if name == "replay":
        return commands.replay([id], confirm=confirm, despite_success=despite, again=again, schema=schema)
    if name == "retry":
        return commands.retry([id], confirm=confirm, schema=schema)
    if name in ("cancel", "discard") and reason is None:
        raise refused("reason", _("say why: it stands in the audit log"))
    if name == "cancel":
        return commands.cancel([id], reason=reason, schema=schema)
    if name == "discard":
        return commands.discard([id], reason=reason, schema=schema)
    if name == "priority":
        priority = form.whole("priority", None, least=-MOST_PRIORITY, most=MOST_PRIORITY)
        if priority is None:
            raise refused("priority", _("expected a number; a lower one is sooner"))
        return commands.prioritize([id], priority, reason=reason, schema=schema)
    if name == "tag":
        return commands.tag([id], changes(form.text("tags")), reason=reason, schema=schema)
    if name == "move":
        return commands.move_some([id], form.text("queue"), reason=reason, schema=schema)
    try:
        moment = datetime.fromisoformat(form.text("run_at"))
    except ValueError:
        raise refused("run_at", _("must be a moment such as 2026-02-16T10:30, in UTC")) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return commands.schedule([id], moment, reason=reason, schema=schema)


def told(status: str) -> tuple[str, str]:
    """What came of it, in words, and how well."""
    good = {
        "replayed": _("It runs again as a new job."),
        "due": _("Its next attempt is due."),
        "canceled": _("It is canceled."),
        "requested": _("Its worker was asked to stop it."),
        "discarded": _("It is discarded."),
        "changed": _("It is changed."),
    }
    if status in good:
        return good[status], "done"
    return {
        "live": _("A replay of it waits or runs already."),
        "already_replayed": _("It was replayed before; say that it shall run once more."),
        "succeeded_since": _(
            "A later job with the same key, or the same type and arguments, has succeeded; say that it shall run all the same."
        ),
        "unconfirmed": _("Its job type wants that somebody is asked; say that somebody was."),
        "never": _("Its job type says that it is never replayed."),
        "rolled_back": _("The workflow that it is a step of was taken back: start the workflow again."),
        "moving": _("Its tenant is being carried to another cell: try again in a few seconds."),
        "moved": _("Its tenant lives in another cell now."),
        "version_gone": _("Nobody can run the version that it was made under."),
        "key_held": _("Its key belongs to another live job."),
        "running": _("It runs just now."),
        "finished": _("It has ended already."),
        "unchanged": _("It was so already."),
        "contended": _("It is just being claimed: try again."),
        "blocked": _("It waits for other jobs, and is due when these are done."),
        "full": _("It would have more than 8 tags; take some away."),
        "not_dead": _("It is no open dead letter any more."),
    }.get(status, _("Nothing was done: %s.") % status.replace("_", " ")), "refused"  # fmt: skip
