"""What the platform's people do about a cause of failures."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

from starlette.responses import Response

from postmill.api.problems import Problem
from postmill.console.frame.arguments import refused
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages.errors import the_group
from postmill.domain.access import Action
from postmill.domain.duration import parse
from postmill.operate import error_groups as acts

router = Pages()

COLUMNS = (
    "tenant_id",
    "slug",
    "name",
    "jobs",
    "failed_attempts",
    "dead_letters",
    "replayed",
    "replays_succeeded",
    "replays_failed",
    "first_seen_at",
    "last_seen_at",
    "sample_job_id",
)


@router.act("/errors/{fp}/ignore", Action.ERRORS_WRITE, tenant=False)
async def ignore(visit: Visit) -> Response:
    """Nobody needs to look at it for a while."""
    until = await visit.moment() + timedelta(seconds=length(visit, "for"))
    await visit.drive(
        acts.ignore(_id(visit), until, reason=visit.form.text("reason", None), schema=visit.schema)
    )
    return visit.done(_("Ignored until %s.") % f"{until:%Y-%m-%d %H:%M} UTC", visit.back())


@router.act("/errors/{fp}/resolve", Action.ERRORS_WRITE, tenant=False)
async def resolve(visit: Visit) -> Response:
    """It is over with a version, or with a build."""
    build = visit.form.text("build", None)
    version = visit.form.whole("version", None, least=1, most=2_000_000_000)
    group = await visit.drive(
        acts.resolve(
            _id(visit),
            version=version,
            build=build,
            reason=visit.form.text("reason", None),
            schema=visit.schema,
        )
    )
    if group.resolved_build is not None:
        told = _("Resolved in build %s: a failure of it, or of a later one, makes it regressed.")
        return visit.done(told % group.resolved_build, visit.back())
    said = _("Resolved in version %d: a failure of it, or of a later one, makes it regressed.")
    return visit.done(said % (group.resolved_version or 0), visit.back())


@router.act("/errors/{fp}/reopen", Action.ERRORS_WRITE, tenant=False)
async def reopen(visit: Visit) -> Response:
    """What was said of it is taken back."""
    await visit.drive(acts.reopen(_id(visit), reason=visit.form.text("reason", None), schema=visit.schema))
    return visit.done(_("Open again."), visit.back())


@router.act("/errors/{fp}/notes", Action.ERRORS_WRITE, tenant=False)
async def note(visit: Visit) -> Response:
    """Write on it."""
    await visit.drive(acts.note(_id(visit), visit.form.text("text"), schema=visit.schema))
    return visit.done(_("The note is kept."), visit.back())


@router.act("/errors/{fp}/tenants.csv", Action.ERRORS_WRITE, tenant=False)
async def tell(visit: Visit) -> Response:
    """Whom it affects, as a file to write to them by; noted in the audit log."""
    group = await the_group(visit)
    found = await visit.drive(acts.to_tell(group.id, schema=visit.schema))
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\r\n")
    lines.writerow(COLUMNS)
    for one in found:
        lines.writerow(
            [
                one.tenant_id, plain(one.slug), plain(one.name), *map(_known, (one.jobs, one.count, one.dead,
                one.replayed, one.replays_succeeded, one.replays_failed)),
                one.first_seen_at.isoformat(), one.last_seen_at.isoformat(), one.sample_job or "",
            ]
        )  # fmt: skip
    name = f"tenants-of-{group.id}.csv"
    return Response(
        text.getvalue(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )


def _known(n: int | None) -> int | str:
    return "" if n is None else n


def plain(text: str | None) -> str:
    """A cell that no spreadsheet takes for a formula."""
    value = text or ""
    return f"'{value}" if value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def length(visit: Visit, field: str, default: str | None = None) -> float:
    """A length of time from a form, a minute to a year. Raises Problem (422)."""
    text = visit.form.text(field, default)
    try:
        seconds = parse(text or "", field)
    except ValueError as fault:
        raise refused(field, str(fault)) from None
    if not 60 <= seconds <= 366 * 86400:
        raise refused(field, _("must be between a minute and a year, such as 30m, 4h or 7d"))
    return seconds


def _id(visit: Visit) -> str:
    fp = str(visit.request.path_params["fp"])
    if len(fp) > 100:
        raise Problem(404, "not-found", "there is no such error group")
    return fp
