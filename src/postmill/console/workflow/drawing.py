"""A workflow's graph as SVG: layers from left to right, many steps alike folded into one box."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from html import escape

from markupsafe import Markup

from postmill.console.frame.words import _
from postmill.console.workflow.undone import taken_back
from postmill.domain.graph import Node, folded, lines, told
from postmill.domain.workflow_view import EdgeView, StepView

MOST = 60
"""Boxes of one drawing."""
WIDE, HIGH, GAP_X, GAP_Y, EDGE = 168, 44, 56, 14, 8
LONGEST = 22
"""Characters of a line in a box."""

CLASSES = {
    "succeeded": "ok",
    "running": "series-1",
    "failed": "bad",
    "dead_letter": "bad",
    "canceled": "warn",
    "held": "warn",
}


def graph(
    steps: Sequence[StepView],
    edges: Sequence[EdgeView],
    *,
    title: str,
    link: Callable[[Node], str | None],
    own: int | None = None,
) -> Markup:
    """The drawing; `link`: where a box leads. `own`: the number of the step whose page this is."""
    nodes = folded(steps, lines(steps, edges), MOST)
    places = _places(nodes)
    width = max((x for x, _ in places.values()), default=0) + WIDE + 2 * EDGE
    height = max((y for _, y in places.values()), default=0) + HIGH + 2 * EDGE
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    out = [f'<svg class="chart" role="img" {size} aria-label="{escape(title)}">']
    by_key = {node.key: node for node in nodes}
    back = taken_back(steps)
    for node in nodes:
        x, y = places[node.key]
        for parent in node.parents:
            px, py = places[by_key[parent].key]
            out.append(_line(px + WIDE, py + HIGH / 2, x, y + HIGH / 2))
    out += [
        _box(
            node,
            *places[node.key],
            link(node),
            any(step.no == own for step in node.steps),
            all(step.no in back for step in node.steps),
        )
        for node in nodes
    ]
    return Markup("".join([*out, "</svg>"]))


def _places(nodes: Sequence[Node]) -> dict[int, tuple[int, int]]:
    """Where each box is: a column for each layer, within it near its parents."""
    layers: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        layers[node.layer].append(node)
    row: dict[int, float] = {}
    places: dict[int, tuple[int, int]] = {}
    for column, layer in enumerate(sorted(layers)):
        near = {
            node.key: sum(row[parent] for parent in node.parents if parent in row)
            / max(1, sum(parent in row for parent in node.parents))
            for node in layers[layer]
        }
        for n, node in enumerate(sorted(layers[layer], key=lambda node: (near[node.key], node.key))):
            row[node.key] = n
            places[node.key] = (EDGE + column * (WIDE + GAP_X), EDGE + n * (HIGH + GAP_Y))
    return places


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    middle = (x1 + x2) / 2
    way = f"M{x1:g} {y1:g}C{middle:g} {y1:g} {middle:g} {y2:g} {x2:g} {y2:g}"
    return f'<path class="grid" d="{way}" fill="none" stroke="currentColor" stroke-width="1.5"/>'


def _box(node: Node, x: int, y: int, link: str | None, own: bool, back: bool) -> str:
    worst = next(
        (state for state in ("dead_letter", "failed", "held", "canceled", "running") if state in node.states),
        "succeeded" if set(node.states) == {"succeeded"} else "",
    )
    kind = "warn" if back else CLASSES.get(worst, "axis")
    below = _("taken back") if back else told(node)
    whole = f"{node.label}: {below}"
    box = (
        f"<title>{escape(whole)}</title>"
        f'<rect class="{kind}" x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="6" fill="currentColor" fill-opacity="0.12"'
        f' stroke="currentColor" stroke-width="{3 if own else 1.5}"/>'
        f'<text x="{x + 10}" y="{y + 18}">{escape(_cut(node.label))}</text>'
        f'<text class="axis" x="{x + 10}" y="{y + 35}">{escape(_cut(below))}</text>'
    )
    return f'<a href="{escape(link)}">{box}</a>' if link is not None else f"<g>{box}</g>"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
