"""What is done with chosen dead letters. All that match a filter are the business of the wizard of bulk operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from starlette.responses import Response

from postmill.console.frame.arguments import refused
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _, many
from postmill.domain.access import Action
from postmill.operate import commands

router = Pages()

MOST = 500
"""Letters at once by hand."""


@router.act("/dead/replay", Action.DEAD_REPLAY)
async def replay(visit: Visit) -> Response:
    """Run them again as new jobs."""
    ids = chosen(visit)
    answers = await visit.drive(
        commands.replay(ids, confirm=visit.form.text("confirm") == "1", schema=visit.schema)
    )
    return _done(visit, [one.status for one in answers], "replayed")


@router.act("/dead/move", Action.QUEUES_WRITE, tenant=False)
async def move(visit: Visit) -> Response:
    """Run them again from another queue."""
    queue = visit.form.text("queue", None)
    if queue is None:
        raise refused("queue", _("choose the queue that they shall run from"))
    answers = await visit.drive(
        commands.replay_into(
            chosen(visit),
            queue,
            confirm=visit.form.text("confirm") == "1",
            reason=visit.form.text("reason", None),
            schema=visit.schema,
        )
    )
    return _done(visit, [one.status for one in answers], "replayed")


@router.act("/dead/discard", Action.DEAD_DISCARD)
async def discard(visit: Visit) -> Response:
    """Close them for good, with a reason."""
    reason = visit.form.text("reason", None)
    if reason is None:
        raise refused("reason", _("say why: the jobs count as failed for this reason, for good"))
    answers = await visit.drive(commands.discard(chosen(visit), reason=reason[:200], schema=visit.schema))
    return _done(visit, [one.status for one in answers], "discarded")


def chosen(visit: Visit) -> list[UUID]:
    """The letters that were ticked. Raises Problem (422) for none, or too many."""
    ids = visit.form.ids("id")
    if not ids:
        raise refused("id", _("choose at least one letter"))
    if len(ids) > MOST:
        raise refused("id", _("at most %d at once; for more there are bulk operations") % MOST)
    return ids


def told(status: str) -> str:
    """Why a letter was not replayed, for people."""
    words = {
        "already_replayed": _("it was replayed already"),
        "live": _("its replay has not ended yet"),
        "unconfirmed": _("its definition wants somebody to be asked: tick the confirmation"),
        "never": _("its definition says that it may never run again"),
        "key_held": _("its idempotency key belongs to another live job"),
        "succeeded_since": _("a later job with its key or its payload has succeeded"),
        "old_version": _("its definition has not come to that version"),
        "version_gone": _("nobody can run the version that it was made under"),
        "rolled_back": _("its workflow was taken back: start that again"),
        "moving": _("its tenant is being carried to another cell: try again in a few seconds"),
        "moved": _("its tenant lives in another cell now"),
        "unknown": _("it is no open dead letter any more"),
        "waiting": _("it waits already"),
        "running": _("it runs already"),
        "inactive": _("its job type takes no new jobs"),
    }
    return words.get(status, status.replace("_", " "))


def _done(visit: Visit, statuses: Iterable[str], good: str) -> Response:
    counts = Counter(statuses)
    n = counts.pop(good, 0)
    if good == "replayed":
        said = many("%d letter runs again.", "%d letters run again.", n) % n
    else:
        said = many("%d letter is discarded.", "%d letters are discarded.", n) % n
    if counts:
        left = "; ".join(f"{told(status)} ({count})" for status, count in counts.most_common())
        said += " " + _("Left: %s.") % left
    return visit.done(said, visit.back(), kind="warning" if counts else "done")
