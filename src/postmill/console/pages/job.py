"""One job: where it stands and why, its course, what it was given and gave back, its kin, and what can be done to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from starlette.responses import Response

from postmill.api.problems import Problem, not_found
from postmill.console.charts import Series, stacked_bars
from postmill.console.failures.tracebacks import folded
from postmill.console.frame import headers
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.job import acts, policy, texts
from postmill.console.job.course import MOST, course
from postmill.console.job.lineage import lineage
from postmill.console.job.payload import parsed, printed
from postmill.console.job.texts import Text
from postmill.console.job.why import ENDED, why
from postmill.domain.access import Action
from postmill.domain.budget import Level
from postmill.domain.pace import KINDS
from postmill.domain.query_words import written
from postmill.operate.bulk import NEEDS
from postmill.operate.payloads import opened, secret_names
from postmill.operate.why import reasons
from postmill.store.archive import units
from postmill.store.artifacts import read_artifacts
from postmill.store.boost import read_boost
from postmill.store.definition_rows import DefinitionView
from postmill.store.definitions import list_definitions
from postmill.store.error_groups import read_error_groups
from postmill.store.finding import FoundJob, read_job_lines
from postmill.store.job_page import (
    LAST,
    TEXTS,
    AttemptText,
    read_attempt_page,
    read_attempt_text,
    read_job_page,
    read_job_payload,
)
from postmill.store.queues import read_queue_names
from postmill.store.stats import read_stats
from postmill.store.why import read_why

router = Pages()

PAGE = 10
"""Attempts of a page with all that they said."""
TAIL = 16_384
SHORT = 4_096
"""Characters of each text of the attempts below the first of a page: a thousand of them stay a page."""
PAYLOADS = ("payload", "result")


@dataclass(frozen=True, slots=True)
class Attempt:
    """An execution with its texts as they are shown."""

    row: AttemptText
    error: Text | None
    stack: list[Any]
    whole_stack: Text | None
    stdout: Text | None
    stderr: Text | None


@router.page("/jobs/{id:uuid}", Action.JOBS_READ)
async def job(visit: Visit) -> Response:
    """All of it."""
    id: UUID = visit.request.path_params["id"]
    line, below = await _line(visit, id), visit.args.whole("below", LAST, most=LAST)
    if line is None:
        return await _gone(visit, id)
    schema = visit.schema
    facts = await visit.read(read_job_page(id, schema=schema))
    if facts is None:
        return await _gone(visit, id)
    # Only what has not ended is held up by anything.
    known = None if line.state in ENDED else await visit.read(read_why(id, schema=schema))
    definitions = await visit.read(list_definitions(key=line.job_type, most=1, schema=schema))
    definition = definitions[0] if definitions else None
    shown = await visit.read(
        read_attempt_page(
            id, below=below, most=PAGE + 1, text=texts.MOST + 4_000, tail=TAIL + 4_000, schema=schema
        )
    )
    drawn = shown
    if below != LAST or len(shown) > PAGE:
        drawn = await visit.read(read_attempt_page(id, most=MOST + 1, text=0, tail=0, schema=schema))
    group = None
    if line.error_group is not None and visit.may(Action.DEAD_READ):
        groups = await visit.attempt(
            _("the same error elsewhere"), read_error_groups(id=line.error_group, most=1, schema=schema)
        )
        group = groups[0] if groups else None
    related = [*facts.replays, *([line.replayed_from] if line.replayed_from else [])]
    kin = await visit.read(read_job_lines(related, schema=schema)) if related else []
    payloads = visit.may(Action.PAYLOADS_READ)
    payload, result = await _payloads(visit, line, definition) if payloads else (None, None)
    offered = acts.offered(line, definition, ops=visit.scope.ops)
    movable = any(act.name == "move" for act in offered)
    return visit.page(
        "job.html",
        job=line,
        error=texts.clean(line.error_message),
        facts=facts,
        why=why(line, reasons(known) if known is not None else (), group, kin),
        group=group,
        definition=definition,
        course=course(visit, line, drawn, sorted(kin, key=lambda one: one.id)),
        attempts=[_attempt(visit, line, one, first=n == 0) for n, one in enumerate(shown[:PAGE])],
        older=visit.same(below=shown[PAGE - 1].run) if len(shown) > PAGE else None,
        newest=below == LAST,
        payload=payload,
        result=result,
        payloads=payloads,
        kin=kin,
        curve=policy.curve(line, definition),
        lane=None if definition is None else policy.lane(definition),
        budget=None if known is None or known.budget is None else known,
        pinned=facts.pinned,
        raised=await visit.read(read_boost(id, schema=schema))
        if line.state in ("queued", "running")
        else None,
        levels=tuple(Level),
        history=await _history(visit, line),
        artifacts=await _artifacts(visit, id) if facts.has_artifacts else None,
        lineage=await lineage(visit, id) if facts.in_workflow else None,
        quoted=written,
        acts=offered,
        queues=await visit.read(read_queue_names(schema=schema)) if movable else [],
        secret=payloads,
    )


@router.act("/jobs/{id:uuid}/act", Action.JOBS_RETRY)
async def act(visit: Visit) -> Response:
    """Does one thing to it (`act`)."""
    id: UUID = visit.request.path_params["id"]
    name = visit.form.one_of("act", KINDS, None)
    if name is None:
        raise Problem(422, "invalid-request", _("choose what to do"))
    if not visit.may(NEEDS[name]):
        detail = f"the role {visit.asked.principal.role} may not {NEEDS[name]}"
        raise await visit.asked.denied(NEEDS[name], detail, target=f"POST jobs/{id}/act")
    [answer] = await visit.drive(acts.flow(visit, name, id))
    if answer.status == "unknown":
        raise not_found("job")
    said, kind = acts.told(answer.status)
    new = getattr(answer, "new_id", None)
    to = (
        visit.url(f"/jobs/{new}")
        if new is not None and answer.status == "replayed"
        else visit.url(f"/jobs/{id}")
    )
    return visit.done(said, to, kind=kind)


@router.page("/jobs/{id:uuid}/text", Action.JOBS_READ)
async def text(visit: Visit) -> Response:
    """One of its long texts in parts: `what`, `run`, and from which character (`from`)."""
    id: UUID = visit.request.path_params["id"]
    line = await _line(visit, id)
    if line is None:
        return await _gone(visit, id)
    start = visit.args.whole("from", 0, most=10**9)
    what, run, whole = await _whole(visit, line, most=start + texts.MOST)
    part = whole[start : start + texts.MOST]
    return visit.page(
        "job/text.html",
        job=line,
        what=what,
        run=run,
        part=part,
        start=start,
        older=visit.same(**{"from": max(0, start - texts.MOST)}) if start else None,
        newer=visit.same(**{"from": start + texts.MOST}) if len(whole) > start + texts.MOST else None,
        file=_file(visit, line, what, run),
        secret=True,
    )


@router.page("/jobs/{id:uuid}/file", Action.JOBS_READ)
async def file(visit: Visit) -> Response:
    """One of its texts whole, as a file."""
    id: UUID = visit.request.path_params["id"]
    line = await _line(visit, id)
    if line is None:
        raise not_found("job")
    what, run, whole = await _whole(visit, line, most=None)
    kind = "application/json" if what in PAYLOADS else "text/plain; charset=utf-8"
    name = f"{id}-{what}{f'-{run}' if run else ''}.{'json' if what in PAYLOADS else 'txt'}"
    answer = Response(whole.encode(errors="replace"), media_type=kind)
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return headers.secure(answer, secret=True)


async def _line(visit: Visit, id: UUID) -> FoundJob | None:
    found = await visit.read(read_job_lines([id], schema=visit.schema))
    return found[0] if found else None


async def _gone(visit: Visit, id: UUID) -> Response:
    """404 that says why: an id tells when it was made, and what is older than the retention was pruned."""
    seconds = (id.int >> 80) / 1000
    made = datetime.fromtimestamp(seconds, UTC) if id.version == 7 and seconds < 253370764800 else None
    archived = False
    if visit.may(Action.ARCHIVE_READ):
        found = await visit.attempt(
            _("the cold archive"), units(job=id, status="archived", most=1, schema=visit.schema)
        )
        archived = bool(found)
    return visit.page("job/gone.html", 404, id=id, made=made, archived=archived)


async def _payloads(
    visit: Visit, line: FoundJob, definition: DefinitionView | None
) -> tuple[Text | None, Text | None]:
    found = await visit.read(read_job_payload(line.id, schema=visit.schema))
    if found is None:
        return None, None
    names: Sequence[str]
    if definition is None:
        names = await visit.see(secret_names(line.job_type, visit.schema))
    else:
        names = definition.secret_keys
    ring = visit.asked.backend.settings.encryption.ring
    made: list[Text | None] = []
    for what, stored in zip(PAYLOADS, found, strict=True):
        if stored is None:
            made.append(None)
            continue
        clear = opened(stored, line.tenant_id, line.job_type, ring) if what == "payload" else stored
        shown = _printed(clear, names, texts.MOST)
        more = visit.url(f"/jobs/{line.id}/text", what=what)
        cut = "end" if len(shown) > texts.MOST else None
        made.append(Text(shown[: texts.MOST], len(stored), cut, more, _file(visit, line, what, 0)))
    return made[0], made[1]


async def _whole(visit: Visit, line: FoundJob, most: int | None) -> tuple[str, int, str]:
    """What a link asks for: name, run, and the text, of which at least `most` characters are wanted (None: all)."""
    what = visit.args.one_of("what", (*PAYLOADS, *TEXTS), "payload")
    if what in PAYLOADS:
        if not visit.may(Action.PAYLOADS_READ):
            detail = f"the role {visit.asked.principal.role} may not {Action.PAYLOADS_READ}"
            raise await visit.asked.denied(Action.PAYLOADS_READ, detail, target=f"GET jobs/{line.id}/{what}")
        found = await visit.read(read_job_payload(line.id, schema=visit.schema))
        stored = None if found is None else found[PAYLOADS.index(what)]
        if stored is None:
            raise not_found(what)
        names = await visit.see(secret_names(line.job_type, visit.schema))
        if what == "payload":
            stored = opened(
                stored, line.tenant_id, line.job_type, visit.asked.backend.settings.encryption.ring
            )
        return what, 0, _printed(stored, names, most)
    run = visit.args.whole("run", 0, most=LAST)
    kept = await visit.read(read_attempt_text(line.id, run, what, schema=visit.schema))
    if kept is None:
        raise not_found("text")
    return what, run, texts.clean(kept) or ""


def _printed(stored: str, names: Sequence[str], most: int | None) -> str:
    try:
        return printed(parsed(stored), names, most)
    except RecursionError:
        return _("It is nested too deeply to be shown without its secrets.")


def _file(visit: Visit, line: FoundJob, what: str, run: int) -> str:
    return visit.url(f"/jobs/{line.id}/file", what=what, run=run or None)


def _attempt(visit: Visit, line: FoundJob, row: AttemptText, *, first: bool) -> Attempt:
    def links(what: str) -> tuple[str, str]:
        return visit.url(f"/jobs/{line.id}/text", what=what, run=row.run), _file(visit, line, what, row.run)

    error, stack, stdout, stderr = row.lengths
    whole_stack = texts.beginning(row.stack, stack, *links("stack"), most=texts.MOST if first else SHORT)
    tail = TAIL if first else SHORT
    return Attempt(
        row,
        texts.beginning(row.error_message, error, *links("error"), most=SHORT),
        folded(None if whole_stack is None else whole_stack.shown),
        whole_stack,
        texts.end(row.stdout_tail, stdout, *links("stdout"), most=tail),
        texts.end(row.stderr_tail, stderr, *links("stderr"), most=tail),
    )


async def _history(visit: Visit, line: FoundJob) -> Any:
    """How its kind did in the last day, by the hour."""
    found = await visit.attempt(
        _("how its job type did"),
        read_stats(seconds=86_400.0, bucket=3600.0, job_type=line.job_type, times=(), schema=visit.schema),
    )
    if not found or not any(
        stat.n("succeeded", "retried", "lost", "failed", "dead_letter") for stat in found
    ):
        return None
    series = [
        Series(_("succeeded"), [stat.n("succeeded") for stat in found], "ok"),
        Series(_("tried again"), [stat.n("retried", "lost") for stat in found], "warn"),
        Series(_("failed or dead"), [stat.n("failed", "dead_letter") for stat in found], "bad"),
    ]
    return stacked_bars(
        [stat.bucket for stat in found],
        series,
        id="kind",
        title=_("%s in the last 24 hours") % line.job_type,
        step=3600.0,
        since=line.moment - timedelta(days=1),
        until=line.moment,
    )


async def _artifacts(visit: Visit, id: UUID) -> Any:
    if not visit.may(Action.ARTIFACTS_READ):
        return None
    return await visit.read(read_artifacts(id, most=100, schema=visit.schema))
