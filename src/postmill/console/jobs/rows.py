"""The rows of the table of jobs, as text.

A page has fifty rows of a dozen cells. A template that calls a macro for each of them takes ten times as long as this, and
most of the page's time: so what is alike in all rows is put together once, and what many jobs share once for each value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from markupsafe import Markup, escape

from postmill.console.frame.shown import cut, first_upper, seconds, short_id, when
from postmill.console.frame.words import _
from postmill.console.jobs.columns import Chosen, Column
from postmill.console.jobs.lines import Line
from postmill.console.static_files import asset
from postmill.domain.access import Action
from postmill.domain.query_words import written
from postmill.store.finding import FoundJob

if TYPE_CHECKING:
    from postmill.console.frame.visit import Visit

Cell = Callable[["Cells", Line], str]

ALIVE = ("queued", "scheduled", "blocked", "running")
DEAD = ("failed", "canceled", "dead_letter")
NONE = "–"


def rows(visit: Visit, chosen: Chosen, lines: Sequence[Line]) -> Markup:
    """A `<tr>` for each job: the check box, its id, the chosen columns and arguments, and what can be done at once."""
    cells = Cells(visit, apart="attempts" not in chosen.names)
    shown = [(CELLS[column.name], _label(column)) for column in chosen.columns]
    return Markup("".join([cells.row(line, shown) for line in lines]))


class Cells:
    """The cells of one page. Every value is escaped, or is one of ours."""

    def __init__(self, visit: Visit, *, apart: bool) -> None:
        self._visit = visit
        self._apart = apart  # the link to the attempts stands by itself: their column is not shown
        # Plain text from here on: what is put together of Markup is escaped once more by Python, a part at a time.
        self._jobs = str(escape(visit.url("/jobs/")))
        self._icons = str(escape(visit.root(asset("icons.svg"))))
        self._choose, self._attempts = str(escape(_("Choose job %(id)s"))), str(escape(_("Attempts")))
        self._cancel = str(escape(_("Cancel"))) if visit.may(Action.JOBS_CANCEL) else None
        self._retry = str(escape(_("Retry"))) if visit.may(Action.JOBS_RETRY) else None
        self._known: dict[tuple[str, str | None], str] = {}

    def row(self, line: Line, shown: Sequence[tuple[Cell, str]]) -> str:
        """The whole row."""
        job = line.job
        id, short = str(job.id), short_id(job.id)
        page = f"{self._jobs}{id}"
        head = (
            f'<tr id="job-{id}" data-row>\n<td><input type="checkbox" name="id" value="{id}" id="choose-{id}"'
            f' aria-label="{self._choose % {"id": short}}"></td>\n'
            f'<th scope="row" class="mono nowrap"><a href="{page}" title="{id}">{short}</a></th>\n'
        )
        cells = [f"<td{label}{cell(self, line)[3:]}" for cell, label in shown]
        args = [f'<td class="mono wrap">{escape(cut(value, 80))}</td>\n' for value in line.args]
        more = ""
        if self._apart:
            more = (
                f'<a href="{page}#attempts">{self._attempts}<span class="visually-hidden"> {short}</span></a>'
            )
        # What somebody asked for by its name stands first.
        return "".join(
            [head, *args, *cells, f'<td class="nowrap">{more}', *self._acts(job, short), "</td></tr>\n"]
        )

    def _acts(self, job: FoundJob, short: str) -> list[str]:
        made = []
        if self._cancel is not None and job.state in ALIVE:
            made.append(_act("cancel", self._cancel, job.id, short))
        if self._retry is not None and (job.retrying or job.state in DEAD) and not job.replayed:
            made.append(_act("retry", self._retry, job.id, short))
        return made

    def _once(self, name: str, value: str | None, make: Callable[[], str]) -> str:
        """A cell that all jobs with this value have alike."""
        found = self._known.get((name, value))
        if found is None:
            found = self._known[name, value] = make()
        return found

    def _link(self, text: str, path: str, **query: str) -> str:
        return f'<a href="{escape(self._visit.url(path, **query))}">{escape(text)}</a>'

    def type(self, line: Line) -> str:
        name = line.job.job_type
        return self._once(
            "type", name, lambda: f"<td>{self._link(name, '/jobs', q=f'type:{written(name)}')}</td>\n"
        )

    def state(self, line: Line) -> str:
        word, reason = line.job.shown_state, line.reason
        said = self._once("state", word, lambda: (
            f'<td class="standing"><span class="state state-{escape(word)}"><svg class="icon" aria-hidden="true">'
            f'<use href="{self._icons}#state-{escape(word)}"/></svg>{first_upper(word)}</span>'))  # fmt: skip
        return (
            f'{said} <span class="muted" title="{escape(cut(reason, 60))}">{escape(cut(reason, 60))}</span></td>\n'
            if reason
            else f"{said}</td>\n"
        )

    def queue(self, line: Line) -> str:
        return f"<td>{escape(line.job.queue)}</td>\n"

    def tenant(self, line: Line) -> str:
        slug = line.job.tenant
        if slug is None:
            return f"<td>{NONE}</td>\n"
        return self._once("tenant", slug, lambda: (
            f'<td><a href="{escape(self._visit.root(f"/t/{slug}/jobs"))}">{escape(slug)}</a></td>\n'))  # fmt: skip

    def source(self, line: Line) -> str:
        job, word = line.job, self._once("source", line.job.source, lambda: escape(_(line.job.source)))
        if job.trigger_id is None:
            return f"<td>{word}</td>\n"
        trigger, label = str(job.trigger_id), job.trigger_label or ""
        return self._once(
            f"source {word}",
            trigger,
            lambda: (
                f'<td>{self._link(label, f"/triggers/{trigger}")} <span class="muted">{word}</span></td>\n'
            ),
        )

    def attempts(self, line: Line) -> str:
        job = line.job
        return (
            f'<td class="num"><a href="{self._jobs}{job.id}#attempts"><span class="visually-hidden">{self._attempts} '
            f"{short_id(job.id)} </span>{job.attempt}/{job.max_attempts}</a></td>\n"
        )

    def queued(self, line: Line) -> str:
        return f'<td class="nowrap">{when(line.job.created_at, self._visit.now)}</td>\n'

    def started(self, line: Line) -> str:
        return f'<td class="nowrap">{when(line.job.started_at, self._visit.now)}</td>\n'

    def finished(self, line: Line) -> str:
        return f'<td class="nowrap">{when(line.job.finished_at, self._visit.now)}</td>\n'

    def waited(self, line: Line) -> str:
        return f'<td class="num">{seconds(line.job.waited)}</td>\n'

    def ran(self, line: Line) -> str:
        return f'<td class="num">{seconds(line.job.ran)}</td>\n'

    def worker(self, line: Line) -> str:
        name = line.job.worker_id
        return self._once("worker", name, lambda: f'<td class="mono">{_cut(name, 40)}</td>\n')

    def error(self, line: Line) -> str:
        job = line.job
        if not job.error_class:
            return f'<td class="wrap error">{NONE}</td>\n'
        named, group = cut(job.error_class, 60), job.error_group
        told: str = escape(named)
        if group is not None:
            told = self._once(f"error {group}", named, lambda: self._link(named, f"/errors/{group}"))
        message = escape(cut(job.error_message))
        return f'<td class="wrap error" title="{message}">{told} <span class="muted">{message}</span></td>\n'

    def priority(self, line: Line) -> str:
        return f'<td class="num">{line.job.priority}</td>\n'

    def tags(self, line: Line) -> str:
        if not line.job.tags:
            return f"<td>{NONE}</td>\n"
        return f"<td>{' '.join([self._tag(tag) for tag in line.job.tags])}</td>\n"

    def _tag(self, tag: str) -> str:
        href = escape(self._visit.url("/jobs", q=f"tag:{written(tag)}"))
        return f'<a class="tag" href="{href}">{escape(tag)}</a>'

    def key(self, line: Line) -> str:
        return f'<td class="mono wrap">{_cut(line.job.key, 60)}</td>\n'

    def actor(self, line: Line) -> str:
        job = line.job
        return f"<td>{escape(cut(job.actor_id, 40) if job.actor_id else job.actor_type)}</td>\n"

    def correlation(self, line: Line) -> str:
        return f'<td class="mono wrap">{_cut(line.job.correlation_id, 60)}</td>\n'


CELLS: dict[str, Cell] = {
    "type": Cells.type,
    "state": Cells.state,
    "queue": Cells.queue,
    "tenant": Cells.tenant,
    "source": Cells.source,
    "attempts": Cells.attempts,
    "queued": Cells.queued,
    "started": Cells.started,
    "finished": Cells.finished,
    "waited": Cells.waited,
    "ran": Cells.ran,
    "worker": Cells.worker,
    "error": Cells.error,
    "priority": Cells.priority,
    "tags": Cells.tags,
    "key": Cells.key,
    "actor": Cells.actor,
    "correlation": Cells.correlation,
}
"""What makes the cell of each of the `COLUMNS`."""


def _label(column: Column) -> str:
    """The head of its column beside a value, where a row is a card; what says itself what it is has none."""
    return "" if column.name in ("type", "state", "error") else f' data-label="{escape(_(column.title))}"'


def _cut(text: str | None, most: int) -> str:
    return str(escape(cut(text, most))) if text else NONE


def _act(name: str, label: str, id: UUID, short: str) -> str:
    return (
        f'<button class="btn btn-small" type="submit" name="one" value="{name}:{id}">{label}'
        f'<span class="visually-hidden"> {short}</span></button>'
    )
