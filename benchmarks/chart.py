"""Draws the peers' figures as an SVG that is legible on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

WIDTH = 760
LEFT = 210
RIGHT = 130
BAR = 12
ROW_GAP = 10
PANEL_GAP = 30
TITLE = 26
MARGIN = 20

FOOTNOTE = "* keeps no record of jobs that succeeded"

# The picture brings its own ground, so that it does not depend on the page's.
STYLE = """
  .ground { fill: #ffffff; } .text { fill: #1f2933; } .soft { fill: #52606d; } .line { stroke: #cbd2d9; }
  .own { fill: #b45309; } .peer { fill: #486581; } .second { opacity: 0.6; }
  text { font: 13px system-ui, sans-serif; } .title { font-weight: 600; } .small { font-size: 12px; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #16191d; } .text { fill: #e4e7eb; } .soft { fill: #9aa5b1; } .line { stroke: #3e4c59; }
    .own { fill: #f59e0b; } .peer { fill: #829ab1; }
  }
"""


@dataclass(frozen=True, slots=True)
class Series:
    """One bar of each system in a panel: which case and figure, and a word for the label."""

    case: str
    key: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One small chart; all its bars share a scale."""

    title: str
    series: Sequence[Series]
    digits: int = 0


PANELS = (
    Panel(
        "Drain of no-op jobs, jobs/s (more is better)",
        (Series("drain_1", "jobs_per_s", "1 process"), Series("drain_2", "jobs_per_s", "2 processes")),
    ),
    Panel("Bulk enqueue from one client, rows/s (more is better)", (Series("bulk", "rows_per_s"),)),
    Panel(
        "Single-row enqueue from one client, commits/s (more is better)", (Series("single", "commits_per_s"),)
    ),
    Panel(
        "Idle pick-up, ms (less is better)",
        (Series("latency", "p50_ms", "p50"), Series("latency", "p99_ms", "p99")),
        digits=1,
    ),
)


def svg(results: Mapping[str, Any]) -> str:
    """The whole picture: one panel a case, one group of bars a system."""
    systems = results["systems"]
    body: list[str] = []
    top = MARGIN
    for panel in PANELS:
        drawn, height = _panel(panel, systems, top)
        body += drawn
        top += height + PANEL_GAP
    body.append(f'<text class="soft small" x="{MARGIN}" y="{top - 4}">{escape(FOOTNOTE)}</text>')
    height = top + MARGIN - 8
    server, machine = results["server"], results["machine"]
    about = (
        f"Postmill and other job queues on PostgreSQL {server['version']}, {machine['cores']} cores. "
        "The table beside this picture has the same figures."
    )
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
                f'height="{height}" role="img" aria-labelledby="peers-title peers-about">'
            ),
            '<title id="peers-title">Job queues on PostgreSQL compared</title>',
            f'<desc id="peers-about">{escape(about)}</desc>',
            f"<style>{STYLE}</style>",
            f'<rect class="ground" width="{WIDTH}" height="{height}" rx="6"/>',
            *body,
            "</svg>",
            "",
        ]
    )


def _value(system: Mapping[str, Any], series: Series) -> float | None:
    figures = system["figures"].get(series.case)
    return None if not figures else float(figures[series.key])


def _panel(panel: Panel, systems: Sequence[Mapping[str, Any]], top: int) -> tuple[list[str], int]:
    asked = {series.case for series in panel.series}
    systems = [system for system in systems if asked & {*system["figures"], *system["not_run"]}]
    values = [value for system in systems for s in panel.series if (value := _value(system, s)) is not None]
    scale = (WIDTH - LEFT - RIGHT) / max([*values, 1e-9])
    drawn = [f'<text class="text title" x="{MARGIN}" y="{top + 13}">{escape(panel.title)}</text>']
    y = top + TITLE
    begin = y
    for system in systems:
        middle = y + len(panel.series) * (BAR + 2) / 2 + 4
        name = escape(system["name"] + ("" if system["history"] else "*"))
        drawn.append(f'<text class="text" x="{LEFT - 10}" y="{middle:.0f}" text-anchor="end">{name}</text>')
        for number, series in enumerate(panel.series):
            drawn += _bar(system, series, panel.digits, scale, y, second=number > 0)
            y += BAR + 2
        y += ROW_GAP
    drawn.append(f'<line class="line" x1="{LEFT}" x2="{LEFT}" y1="{begin - 4}" y2="{y - ROW_GAP + 4}"/>')
    return drawn, y - ROW_GAP - top


def _bar(
    system: Mapping[str, Any], series: Series, digits: int, scale: float, y: int, *, second: bool
) -> list[str]:
    value = _value(system, series)
    if value is None:
        word = f"{series.word} not run".strip()
        return [f'<text class="soft small" x="{LEFT + 6}" y="{y + 10}">{escape(word)}</text>']
    kind = ("own" if system["name"].startswith("Postmill") else "peer") + (" second" if second else "")
    width = max(value * scale, 1.0)
    label = f"{value:,.{digits}f} {series.word}".strip()
    return [
        f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}"/>',
        f'<text class="soft small" x="{LEFT + width + 6:.1f}" y="{y + 10}">{escape(label)}</text>',
    ]
