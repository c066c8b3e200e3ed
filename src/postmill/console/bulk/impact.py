"""What a bulk act would meet, in words: what is left out, and what to think of first."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from postmill.console.bulk import words
from postmill.console.bulk.wizard import Wizard
from postmill.console.charts import Bar, bars
from postmill.console.frame.words import _
from postmill.store.bulk_preview import BulkPreview, Named, TypeShare


@dataclass(frozen=True, slots=True)
class Flag:
    """One thing to think of: how many jobs, what of them, and what becomes of it."""

    n: int
    text: str
    then: str
    level: str = "warning"


def count(found: BulkPreview, n: int | None = None) -> str:
    """How many match, or `n` of them: `1,181`, or `100,000+` where they were not counted to the end."""
    return f"{found.count if n is None else n:,}" + ("" if found.complete else "+")


def partly(found: BulkPreview, wizard: Wizard) -> str | None:
    """How many of those that match it is about, and why not the others; None: about all, or it is not known."""
    met = wizard.met(found)
    if met == found.count:
        return None
    already = wizard.replayed(found) if wizard.act in ("replay", "retry", "discard") else 0
    if wizard.act == "replay" and wizard.again:
        already = 0
    return words.partly(wizard.act, met, found.count, already, found.count - found.fit - already)


def flags(found: BulkPreview, wizard: Wizard) -> list[Flag]:
    """The worst first; none where there is nothing to think of."""
    made = []
    unfit = found.looked_at - found.fit
    if wizard.act == "replay" and wizard.again:
        unfit -= wizard.replayed(found)
    if unfit:
        then = _("They are left as they are.")
        made.append(Flag(unfit, _("are in a state in which this does nothing"), then, "info"))
    if wizard.act in ("replay", "retry"):
        if found.never:
            then = _("They are left as they are.")
            made.append(Flag(found.never, _("are of job types that are never replayed"), then, "critical"))
        if found.ask:
            then = (
                _("They are replayed, since you said that somebody was asked.")
                if wizard.ask
                else _("They are left as they are, unless you say at How that somebody was asked.")
            )
            made.append(
                Flag(
                    found.ask, _("are of job types for which somebody must be asked first"), then, "critical"
                )
            )
        if found.gone:
            then = _("They cannot run: register the job type again first.")
            made.append(
                Flag(found.gone, _("are of job types that are gone, or take no new jobs"), then, "critical")
            )
    if wizard.act in ("replay", "retry") and found.by_build:
        made.append(builds(found))
    if wizard.act == "replay":
        if found.succeeded_since:
            then = _("They run all the same.") if wizard.despite else _("They are left as they are.")
            what = _(
                "have been done since: a later job with the same key, or the same type and arguments, succeeded"
            )
            made.append(Flag(found.succeeded_since, what, then))
        if found.version_changed:
            then = {
                "current": _("They run as their job type is now."),
                "original": _("They run under that version."),
                "unchanged": _("They are left as they are."),
            }[wizard.version]
            made.append(
                Flag(found.version_changed, _("were made under another version of their job type"), then)
            )
        made += versions(found, wizard)
    if found.past_deadline:
        then = (
            _("A replay of them has no deadline.")
            if wizard.act == "replay"
            else _("They will end when a worker meets them.")
        )
        made.append(Flag(found.past_deadline, _("are past their deadline"), then))
    if wizard.act in ("replay", "retry", "run_at", "move"):
        for name, text, then in (
            (found.paused_queues, _("belong to paused queues: %s"), _("They wait until these are resumed.")),
            (
                found.over_budget,
                _("are of tenants over their budget: %s"),
                _("They wait, or are given up as their budget says."),
            ),
        ):
            if name:
                made.append(Flag(sum(one.count for one in name), text % _names(name), then))
    return made


def versions(found: BulkPreview, wizard: Wizard) -> list[Flag]:
    """Versions that are gone, or that nobody runs at the moment; they matter where replays shall run under them."""
    made = []
    original = wizard.version == "original"
    if found.version_gone:
        then = (
            _("They are left as they are.") if original else _("They can run only as their job type is now.")
        )
        what = _("were made under a version of their job type that nobody can run any more")
        made.append(Flag(found.version_gone, what, then, "critical" if original else "info"))
    if found.version_unserved:
        n = sum(one.count for one in found.version_unserved)
        text = _("were made under versions that no live worker runs: %s") % _names(found.version_unserved)
        then = (
            _("They wait until one does: start workers of that version.")
            if original
            else _("They cannot run under these now, only as their job type is now.")
        )
        made.append(Flag(n, text, then, "warning" if original else "info"))
    return made


def builds(found: BulkPreview) -> Flag:
    """Is the code that runs now another one than that which failed?"""
    n = sum(one.count for one in found.by_build)
    failed, now = ({one.name for one in some} for some in (found.by_build, found.builds_now))
    text = _("failed under build %s") % _names(found.by_build)
    if not now:
        return Flag(n, text, _("No worker that lives says of which build it is."), "info")
    run = _("Workers now run %s.") % _names(found.builds_now)
    if now <= failed:
        return Flag(n, text, f"{run} {_('That is no other code: they may fail again.')}")
    if now & failed:
        return Flag(n, text, f"{run} {_('Some still run what failed.')}")
    return Flag(n, text, run, "info")


def version(one: TypeShare) -> str:
    """`v3`, and what has become of it since."""
    if one.state == "unknown_type":
        return _("job type is gone")
    then = "–" if one.version is None else f"v{one.version}"
    if one.state == "inactive":
        return _("%s, takes no new jobs") % then
    return _("%(then)s, now v%(now)s") % {"then": then, "now": one.now} if one.state == "changed" else then


def ages(found: BulkPreview) -> Markup:
    """How long ago they were enqueued, as bars."""
    names = {
        "1h": _("less than an hour"),
        "24h": _("an hour to a day"),
        "7d": _("a day to a week"),
        "older": _("older"),
    }
    data = [Bar(names[one.name], one.count) for one in found.by_age]
    said = ", ".join(f"{bar.label}: {bar.value:,}" for bar in data)
    return bars(
        data, id="ages", title=_("Enqueued so long ago"), message=_("Enqueued so long ago: %s.") % said
    )


def looked(found: BulkPreview) -> str | None:
    """Of how many the details are told, where not of all."""
    if found.complete and found.looked_at == found.count:
        return None
    return _("Told of the newest %s jobs.") % f"{found.looked_at:,}"


def _names(some: list[Named]) -> str:
    shown = ", ".join(one.name for one in some[:5])
    return shown + (" …" if len(some) > 5 else "")
