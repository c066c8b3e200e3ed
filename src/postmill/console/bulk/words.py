"""What bulk acts are called."""

from __future__ import annotations

from collections.abc import Mapping

from postmill.console.frame.nav import N_
from postmill.console.frame.words import _, many
from postmill.domain.pace import Kind

LABELS: Mapping[str, str] = {
    "replay": N_("Replay"),
    "retry": N_("Retry"),
    "cancel": N_("Cancel"),
    "discard": N_("Discard"),
    "priority": N_("Change priority"),
    "move": N_("Move to a queue"),
    "run_at": N_("Run at…"),
    "tag": N_("Tag"),
}

STEPS: Mapping[str, str] = {
    "scope": N_("Scope"),
    "impact": N_("Impact"),
    "how": N_("How"),
    "canary": N_("Canary"),
    "confirm": N_("Confirm"),
}

WHAT: Mapping[str, str] = {
    "replay": N_("They run again as new jobs. The old ones stay in history, and each names the other."),
    "retry": N_(
        "Those that wait for their next attempt are due at once; those that ended without success are replayed."
    ),
    "cancel": N_("Those that wait end here; those that run are asked to stop. This cannot be undone."),
    "discard": N_(
        "Dead letters are closed as failed. This cannot be undone, but a failed job can be replayed."
    ),
    "priority": N_("Those that wait go to the end of their new place; a lower number is sooner."),
    "move": N_("Those that wait go to the end of the other queue; new jobs of their type do not follow."),
    "tag": N_("They are found by their tags, as tag:vip in a query; nothing else becomes of them."),
    "run_at": N_("Those that wait are due at that moment, whatever their next moment was."),
}


def partly(kind: Kind, met: int, count: int, replayed: int, unfit: int) -> str:
    """`4 of 22 that match will be replayed; 18 were replayed already.`

    Args:
        met: those in a state in which the act does something, of `count`.
        replayed: of the rest, those that were replayed before.
        unfit: and those in another state; what is left stays as it is for what the flags say.
    """
    words = {
        "replay": _("%(n)s of %(all)s that match will be replayed"),
        "retry": _("%(n)s of %(all)s that match will be retried"),
        "cancel": _("%(n)s of %(all)s that match will be canceled"),
        "discard": _("%(n)s of %(all)s that match will be discarded"),
        "priority": _("%(n)s of %(all)s that match will have another priority"),
        "move": _("%(n)s of %(all)s that match will be moved"),
        "tag": _("%(n)s of %(all)s that match will be tagged"),
        "run_at": _("%(n)s of %(all)s that match will run at another moment"),
    }
    said = [words[kind] % {"n": f"{met:,}", "all": f"{count:,}"}]
    if replayed:
        said.append(many("%s was replayed already", "%s were replayed already", replayed) % f"{replayed:,}")
    if unfit > 0:
        state = many(
            "%s is in a state in which this does nothing",
            "%s are in a state in which this does nothing",
            unfit,
        )
        said.append(state % f"{unfit:,}")
    if (rest := count - met - replayed - max(unfit, 0)) > 0:
        left = many("%s is left as it is, as told here", "%s are left as they are, as told here", rest)
        said.append(left % f"{rest:,}")
    return "; ".join(said) + "."


def sentence(kind: Kind, count: str, tenants: int) -> str:
    """`Replay 1,181 jobs of 37 tenants.`"""
    words = {
        "replay": _("Replay %(jobs)s jobs of %(tenants)s."),
        "retry": _("Retry %(jobs)s jobs of %(tenants)s."),
        "cancel": _("Cancel %(jobs)s jobs of %(tenants)s."),
        "discard": _("Discard %(jobs)s jobs of %(tenants)s."),
        "priority": _("Change the priority of %(jobs)s jobs of %(tenants)s."),
        "move": _("Move %(jobs)s jobs of %(tenants)s to another queue."),
        "tag": _("Tag %(jobs)s jobs of %(tenants)s."),
        "run_at": _("Let %(jobs)s jobs of %(tenants)s run at another moment."),
    }
    return words[kind] % {"jobs": count, "tenants": many("%s tenant", "%s tenants", tenants) % f"{tenants:,}"}
