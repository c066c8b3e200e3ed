"""The tables of the demo: queues and job types as they stand, and what each type did."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from examples.homepage.demo.deeds import deeds
from examples.homepage.demo.look import Standing, Tally
from examples.homepage.demo.stage import Stage
from examples.homepage.job_types import REGISTRY, JobType
from examples.homepage.queues import FAMILIES

AFTER = "step of a chain"
STYLES = {
    "salmon": "salmon1",
    "blue": "dodger_blue1",
    "lavender": "plum2",
    "green": "green3",
    "yellow": "yellow3",
}
"""The colours of the families, as terminals have them."""


def families(now: Standing) -> Table:
    """The five families."""
    table = plain("Queues", ("queue", "owner"), ("waits", "runs", "done", "healed", "given up"))
    for family in FAMILIES:
        queue, tally = family.queue, now.by_queue.get(family.queue.name, Tally())
        style = STYLES[str(queue.color)]
        table.add_row(Text(queue.name, f"bold {style}"), str(queue.owner), *_figures(tally))
    return table


def types(now: Standing, stage: Stage) -> Table:
    """The fourteen types, and what else has run: the steps of chains."""
    table = plain("Job types", ("type", "cadence"), ("waits", "runs", "done", "healed", "given up"))
    for kind, registered in REGISTRY.items():
        if kind.value in stage.missing:
            table.add_row(Text(kind.value, "dim"), Text(stage.missing[kind.value], "dim"))
            continue
        cadence = Text(registered.cadence.partition(" (")[0], no_wrap=True, overflow="ellipsis")
        table.add_row(_name(kind), cadence, *_figures(now.by_type.get(kind.value, Tally())))
    for name in _besides(now):
        table.add_row(name, AFTER, *_figures(now.by_type[name]))
    return table


def done(now: Standing, stage: Stage) -> Table:
    """What each type did, for each portal: as narrow as terminals are."""
    portals = [portal.slug for portal in stage.portals]
    table = plain("What each type did", ("type",), ("done",), tuple(portals))
    table.columns[0].no_wrap = True
    did = deeds(stage.conn, portals, stage.since, stage.told)
    for kind in REGISTRY:
        if kind.value in stage.missing:
            table.add_row(Text(kind.value, "dim"), "", Text(stage.missing[kind.value], "dim"))
        else:
            table.add_row(_name(kind), _done(now.by_type.get(kind.value, Tally())), *did[kind])
    for name in _besides(now):
        table.add_row(name, _done(now.by_type[name]), AFTER)
    return table


def plain(
    title: str, words: tuple[str, ...], numbers: tuple[str, ...] = (), more: tuple[str, ...] = ()
) -> Table:
    """A table without lines; `numbers` are columns that stand to the right, `more` are words after them."""
    table = Table(box=None, padding=(0, 2, 0, 0), title=title, title_justify="left", title_style="bold")
    for column in (*words, *numbers, *more):
        table.add_column(column, justify="right" if column in numbers else "left")
    return table


def _name(kind: JobType) -> Text:
    return Text(kind.value, STYLES[str(REGISTRY[kind].family.queue.color)])


def _besides(now: Standing) -> list[str]:
    return sorted(name for name in now.by_type if name not in REGISTRY)


def _done(tally: Tally) -> Text:
    done = tally.jobs["succeeded"]
    return Text(str(done), "green" if done else "dim")


def _figures(tally: Tally) -> list[Text]:
    waits, runs = (tally.jobs[status] for status in ("queued", "running"))
    return [
        Text(str(waits), "" if waits else "dim"),
        Text(str(runs), "cyan" if runs else "dim"),
        _done(tally),
        Text(str(tally.healed), "yellow" if tally.healed else "dim"),
        Text(str(tally.lost), "bold red" if tally.lost else "dim"),
    ]
