"""Workflows in a table, and one on a page with its tree."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.text import Text

from postmill.cli.ages import between, relative
from postmill.cli.ids import short
from postmill.cli.tables import STATE_STYLES, Grid, pairs, state, table
from postmill.cli.text import one_line
from postmill.domain.graph import Node, tree
from postmill.domain.workflow_view import GraphView, WorkflowView

COLUMNS = ("id", "kind", "name", "status", "done", "failed", "made", "took")


def workflow_table(found: Sequence[WorkflowView], now: datetime, *, short_ids: bool) -> Grid:
    """Workflows in a table; `now` is the server's moment."""
    rows = [
        (
            short(one.id) if short_ids else str(one.id),
            one.kind,
            one.name,
            state(one.status),
            f"{one.succeeded:,}/{one.total:,}",
            one.failed + one.canceled,
            relative(one.created_at, now),
            between(one.created_at, one.finished_at) if one.finished_at is not None else None,
        )
        for one in found
    ]
    return table(COLUMNS, rows, right=("done", "failed"), kept={"status": 12}, spare=("kind", "took"))


def workflow_page(found: GraphView, now: datetime) -> RenderableType:
    """A workflow with its tree."""
    one = found.workflow
    head = Text.assemble((one.name, "bold"), f"  {one.kind} {one.id}  ", state(one.status))
    if one.cancel_requested_at is not None and one.finished_at is None:
        head.append("  (being canceled)", style="yellow")
    counts = [
        (one.succeeded, "succeeded"),
        (one.failed, "failed"),
        (one.canceled, "canceled"),
        (one.held, "held"),
        (one.active, "active"),
        (one.waiting, "waiting"),
    ]
    undone = f"{one.compensated:,} of {one.compensations:,}" if one.compensations else None
    facts = pairs(
        [
            (
                "steps" if one.kind == "workflow" else "jobs",
                f"{one.total:,}" + ("" if one.sealed else ", open"),
            ),
            ("of them", ", ".join(f"{n:,} {word}" for n, word in counts if n) or None),
            ("came out", one.verdict if one.finished_at is None else None),
            ("taken back", undone),
            ("canceled for", one.cancel_reason),
            ("key", one.key),
            ("made", f"{relative(one.created_at, now)} by {one.actor_id or one.actor_type}"),
            ("took", None if one.finished_at is None else between(one.created_at, one.finished_at)),
        ]
    )
    rows = [_line(*row) for row in tree(found.steps, found.edges)]
    return Group(head, facts, Text(""), *rows)


def _line(branch: str, node: Node, elsewhere: bool) -> Text:
    text = Text.assemble((branch, "dim"), (one_line(node.label, 100), "" if elsewhere else "bold"))
    for name, n in sorted(node.states.items(), key=lambda one: -one[1]):
        count = "" if len(node.steps) == 1 else f"{n:,} "
        text.append(f"  {count}{name}", style=STATE_STYLES.get(name, "magenta"))
    if elsewhere:
        text.append("  (see below)", style="dim")
    elif len(node.steps) == 1 and node.steps[0].job_id is not None:
        text.append(f"  {node.steps[0].job_type} {short(node.steps[0].job_id)}", style="dim")
    return text
