"""The figures of a chart as a table, folded away beneath it."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from postmill.console.charts.svg import clean, element, link, row
from postmill.console.frame.words import _

MOST = 120
"""Rows of a table: the last ones."""


def table(
    id: str,
    title: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    hrefs: Sequence[str | None] = (),
    notes: Sequence[tuple[str, str | None]] = (),
) -> Markup:
    """`<details>` with a table: the first column names the row, and links where the chart does.

    Args:
        notes: what else the chart shows, the marks on its axis: text and address.
    """
    hrefs = [*hrefs, *[None] * (len(rows) - len(hrefs))]
    shown = [*zip(rows, hrefs, strict=False)][-MOST:]
    names = element(
        "tr",
        *(element("th", clean(name), scope="col", cls="num" if n else None) for n, name in enumerate(head)),
    )
    body = [row(one[0], href, one[1:]) for one, href in shown]
    whole = element(
        "div",
        element(
            "table",
            element("caption", clean(title), cls="visually-hidden"),
            element("thead", names),
            element("tbody", *body),
        ),
        cls="table-wrap",
        tabindex=0,
        role="group",
        aria_label=clean(title),
    )
    cut = [element("p", _("Only the last rows are shown."), cls="muted")] if len(rows) > MOST else []
    told = (
        [element("ul", *(element("li", anchor(clean(note), href)) for note, href in notes))] if notes else []
    )
    label = element("span", ": ", clean(title), cls="visually-hidden")
    return element(
        "details", element("summary", _("Show as table"), label), whole, *cut, *told, id=f"{id}-table"
    )


def anchor(words: str, href: str | None) -> str:
    """The words, as a link where there is an address within the console."""
    found = link(href)
    return words if found is None else element("a", words, href=found)
