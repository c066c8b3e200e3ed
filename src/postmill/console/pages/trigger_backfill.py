"""Making up for due moments that made no job: a window, what it would make, and then the act."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from starlette.responses import Response

from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages.moments import read_moment
from postmill.domain.access import Action
from postmill.domain.errors import InvalidValue
from postmill.operate import backfill as operate
from postmill.operate import triggers

router = Pages()

SHOWN = 50


@router.page("/triggers/{id:uuid}/backfill", Action.TRIGGERS_WRITE)
async def backfill(visit: Visit) -> Response:
    """The window, and what a backfill of it would do."""
    id = visit.request.path_params["id"]
    await visit.see(triggers.show(id, schema=visit.schema))
    assert visit.now is not None
    args = visit.args
    day = visit.now.replace(second=0, microsecond=0)
    values = {
        "since": args.text("since") or _written(day - timedelta(days=1)),
        "until": args.text("until") or _written(day),
        "reason": args.text("reason"),
    }
    return await _page(visit, values, planned=bool(args.text("since")))


@router.act("/triggers/{id:uuid}/backfill", Action.TRIGGERS_WRITE)
async def start(visit: Visit) -> Response:
    """A job for each due moment of the window that made none."""
    id = visit.request.path_params["id"]
    values = {name: visit.form.text(name) for name in ("since", "until", "reason")}
    window, errors = _window(values)
    if not values["reason"]:
        errors["reason"] = _("say why")
    done = []
    if not errors:
        try:
            done = await visit.drive(
                operate.backfill(id, *window, reason=values["reason"], schema=visit.schema)
            )
        except InvalidValue as fault:
            errors = _named(fault)
    if errors:
        return await _page(visit, values, errors)
    counts = Counter(one.outcome for one in done)
    told = ", ".join(f"{n} {outcome}" for outcome, n in counts.most_common()) or _("nothing was left out")
    bad = counts.keys() - {"enqueued", "kept"}
    return visit.done(
        _("Backfilled: %s.") % told, visit.url(f"/triggers/{id}"), kind="warning" if bad else "done"
    )


async def _page(
    visit: Visit, values: dict[str, str], errors: dict[str, str] | None = None, *, planned: bool = True
) -> Response:
    id = visit.request.path_params["id"]
    found = await visit.see(triggers.show(id, schema=visit.schema))
    window, unread = _window(values)
    errors, plan = {**unread, **(errors or {})}, None
    if planned and not unread:
        try:
            plan = await visit.see(operate.plan(id, *window, schema=visit.schema))
        except InvalidValue as fault:
            errors |= _named(fault)
    return visit.page(
        "triggers/backfill.html",
        422 if errors else 200,
        trigger=found,
        values=values,
        errors=errors,
        plan=plan,
        shown=SHOWN,
        most=operate.MOST,
    )


def _window(values: dict[str, str]) -> tuple[tuple[datetime, datetime], dict[str, str]]:
    errors, window = {}, []
    for name in ("since", "until"):
        try:
            moment = read_moment(values[name])
            if moment is None:
                raise ValueError(_("is missing"))
            window.append(moment)
        except ValueError as fault:
            errors[name] = str(fault)
            window.append(datetime.min.replace(tzinfo=UTC))
    return (window[0], window[1]), errors


def _named(fault: InvalidValue) -> dict[str, str]:
    """An error of the whole by the field that it names."""
    name, mark, why = str(fault).partition(": ")
    return {name: why} if mark and name in ("since", "until") else {"": str(fault)}


def _written(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"
