"""Why a job is where it is, in one line of words."""

from __future__ import annotations

from collections.abc import Sequence

from postmill.console.frame.shown import moment, seconds
from postmill.console.frame.words import _, many
from postmill.domain.redaction import redacted_text
from postmill.operate.why import Reason
from postmill.store.error_groups import ErrorGroupView
from postmill.store.finding import FoundJob

ENDED = ("succeeded", "failed", "canceled", "dead_letter")


def why(
    job: FoundJob, reasons: Sequence[Reason], group: ErrorGroupView | None, kin: Sequence[FoundJob] = ()
) -> str:
    """`Dead since … after 5 attempts; last error TimeoutError; same error in 1,204 jobs of 37 tenants.`"""
    if job.state not in ENDED:
        said = [_told(one) for one in reasons[:3]]
        if job.state in ("queued", "scheduled", "blocked") and job.waited:
            said.append(_("waits for %s so far") % seconds(job.waited))
        text = "; ".join(said)
        return f"{text[:1].upper()}{text[1:]}." if text else _("It waits for its turn.")
    words = {
        "succeeded": _("Succeeded at %s"), "failed": _("Failed at %s"), "canceled": _("Canceled at %s"),
        "dead_letter": _("Dead since %s"),
    }  # fmt: skip
    said = [words[job.state] % moment(job.finished_at)]
    if job.attempt:
        said[0] += " " + many("after %s attempt", "after %s attempts", job.attempt) % f"{job.attempt:,}"
    if job.state == "succeeded":
        if job.ran is not None:
            said.append(_("the last one took %s") % seconds(job.ran))
        return "; ".join(said) + "."
    if job.reason:
        said.append(_("reason: %s") % redacted_text(job.reason))
    if job.error_class:
        said.append(_("last error %s") % job.error_class)
    if group is not None and group.count > 1:
        told = _("same error in %(jobs)s attempts") % {"jobs": f"{group.count:,}"}
        if group.tenants > 1:
            told += " " + _("of %s tenants") % f"{group.tenants:,}"
        said.append(told)
    if latest := max(
        (one for one in kin if one.replayed_from == job.id), key=lambda one: one.id, default=None
    ):
        said.append(_("replayed as a new job: %s") % latest.shown_state.replace("_", " "))
    return "; ".join(said) + "."


def _told(reason: Reason) -> str:
    if reason.code == "not_due":
        return _("it is due in %s") % seconds(reason.seconds)
    return redacted_text(reason.text)
