"""Charts: any label is inert, any data is drawn or refused, and what is drawn can be read in words."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from markupsafe import Markup

from postmill.console import charts
from postmill.console.charts import Bar, Cell, Level, Mark, MarkKind, Row, Series, Span, Unit
from postmill.console.charts.scale import nice_ticks
from postmill.console.charts.svg import element, link
from postmill.console.charts.time_axis import time_label, time_ticks

START = datetime(2031, 3, 12, 2, 0, tzinfo=UTC)
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "]]></title><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7*7 }}",
    "\x00\x1b[31m\u202eevil\u2066",
    "a" * 100_000,
    "&lt;b&gt;&#x3c;",
]
BAD_LINKS = [
    "javascript:alert(1)",
    "//evil.example/",
    "/\\evil.example",
    "https://evil.example/",
    "data:text/html,x",
    "/a b",
    "/a\nb",
    " /x",
    "x",
    "",
    "/" + "x" * 3000,
]


def minutes(n: int) -> list[datetime]:
    return [START + timedelta(minutes=i) for i in range(n)]


def every_kind(label: str, href: str | None, values: list[float]) -> dict[str, Markup]:
    times = minutes(len(values))
    marks = [Mark(START, MarkKind.DEPLOY, label, href), Mark(START, MarkKind.PAUSE, label, href)]
    span = Span(START, None, label, "ok", href)
    last = values[-1] if values else 0
    over_time: dict[str, Any] = {"id": "c", "title": label, "marks": marks, "hrefs": [href] * len(values)}
    series = [Series(label, values), Series(label, values, "bad")]
    return {
        "bars": charts.bars([Bar(label, v, href) for v in values], id="c", title=label),
        "stacked_bars": charts.stacked_bars(times, series, step=60, **over_time),
        "line": charts.line(times, series, levels=[Level(label, 2)], **over_time),
        "histogram": charts.histogram(
            [float(n + 1) for n in range(len(values))], values, id="c", title=label, levels=[Level(label, 2)], hrefs=[href]
        ),
        "sparkline": charts.sparkline(values, title=label),
        "spark_bars": charts.sparkline(values, title=label, as_bars=True),
        "strip": charts.strip([Cell(label, "bad", href) for _ in values], title=label),
        "gauge": charts.gauge(last, 20, title=label, projected=last),
        "timeline": charts.timeline(
            [Row(label, [span] * len(values))], id="c", title=label, now=START + timedelta(minutes=1), marks=marks
        ),
    }  # fmt: skip


def read(chart: Markup) -> ET.Element:
    """The chart as XML: well-formed, and without anything that could run, load, style or lead away."""
    assert isinstance(chart, Markup)
    root = ET.fromstring(chart)
    for node in root.iter():
        tag = node.tag.rsplit("}")[-1]
        assert tag in {
            "figure", "figcaption", "svg", "title", "desc", "g", "a", "rect", "line", "polyline", "circle", "text",
            "details", "summary", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "ul", "li", "span",
        }, tag  # fmt: skip
        for name, value in node.attrib.items():
            assert not name.startswith("on")
            assert name != "style"
            assert name != "href" or value.startswith(("/", "?"))
    return root


def drawing(root: ET.Element) -> ET.Element:
    found = next(node for node in root.iter() if node.tag.endswith("}svg"))
    names = [child.tag.rsplit("}")[-1] for child in found][:2]
    assert names == ["title", "desc"]
    assert all((child.text or "").strip() for child in [*found][:2])
    links = any(node.tag.endswith("}a") for node in found.iter())
    assert found.get("role") == ("group" if links else "img")
    return found


@pytest.mark.parametrize("label", HOSTILE, ids=lambda it: repr(it)[:20])
def test_a_hostile_label_is_text_and_nothing_else(label: str) -> None:
    for chart in every_kind(label, "/ops/jobs?q=" + "type:%22", [3.0, 0.0, 5.0]).values():
        root = read(chart)
        drawing(root)
        assert len(chart) < 40_000
        assert not set(chart) & {"\x00", "\x1b", "\u202e", "\u2066"}


@pytest.mark.parametrize("href", BAD_LINKS, ids=lambda it: repr(it)[:20])
def test_a_link_that_leads_away_is_no_link(href: str) -> None:
    assert link(href) is None
    for chart in every_kind("x", href, [1.0, 2.0]).values():
        assert not [node for node in read(chart).iter() if node.tag.endswith("a") and node.get("href")]


@pytest.mark.parametrize("values", [[], [7.0], [0.0], [0.0, 0.0], [1e-9], [1e300, 1e300], [10**18, 1]])
def test_no_data_one_point_nothing_and_huge_values_are_drawn(values: list[float]) -> None:
    for name, chart in every_kind("x", None, values).items():
        for node in drawing(read(chart)).iter():
            for key in ("x", "y", "width", "height", "x1", "x2", "y1", "y2", "cx", "cy"):
                assert math.isfinite(float(node.get(key, "0"))), name
            assert float(node.get("height", "0")) >= 0, name
            points = [float(n) for n in re.findall(r"[^ ,]+", node.get("points", ""))]
            assert all(math.isfinite(n) and -1 <= n <= 1000 for n in points), name


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1.0, 10**400])
def test_what_is_no_amount_is_refused(value: float) -> None:
    makers: list[Callable[[], Markup]] = [
        lambda: charts.bars([Bar("x", value)], id="c", title="x"),
        lambda: charts.stacked_bars(minutes(1), [Series("x", [value])], id="c", title="x", step=60),
        lambda: charts.line(minutes(1), [Series("x", [value])], id="c", title="x"),
        lambda: charts.line([], [], id="c", title="x", levels=[Level("x", value)]),
        lambda: charts.histogram([1.0], [value], id="c", title="x"),
        lambda: charts.sparkline([value], title="x"),
        lambda: charts.gauge(value, 1, title="x"),
        lambda: charts.gauge(1, value, title="x"),
    ]
    for make in makers:
        with pytest.raises(ValueError, match="from 0 up"):
            make()


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ValueError, match="one value for each moment"):
        charts.line(minutes(2), [Series("x", [1])], id="c", title="x")
    with pytest.raises(ValueError, match="growing bounds"):
        charts.histogram([2.0, 1.0], [1, 1], id="c", title="x")
    with pytest.raises(ValueError, match="id of a chart"):
        charts.bars([], id='x" onload="', title="x")
    for name in ("style", "onclick", "on_load", "a b", "x>"):
        with pytest.raises(ValueError, match="cannot be called"):
            element("g", **{name: "1"})


def test_the_shape_of_a_small_chart() -> None:
    chart = charts.stacked_bars(
        minutes(2),
        [Series("finished", [3, 1], "ok"), Series("failed", [1, 0], "bad")],
        id="rates",
        title="Jobs per minute",
        step=60,
        hrefs=["/ops/jobs?since=1", None],
        marks=[Mark(START + timedelta(seconds=90), MarkKind.DEPLOY, "Charge v42", "/ops/definitions/Charge")],
    )
    root = read(chart)
    shapes = drawing(root)
    looks = [node.get("class") for node in shapes.iter() if node.tag.endswith("rect") and node.get("class")]
    assert looks == ["ok", "bad", "ok", "bad", "ok"]  # the legend, then the bars; nothing for a zero
    assert "finished: highest 3 at 2031-03-12 02:00 UTC, last 1." in str(chart)
    bars = [node for node in shapes.iter() if node.tag.endswith("}a")]
    assert [node.get("aria-label") for node in bars] == [
        "2031-03-12 02:00 UTC: finished 3, failed 1",
        "Deploy 2031-03-12 02:01:30 UTC: Charge v42",
    ]
    rows = [[("".join(cell.itertext())) for cell in row] for row in root.iter("tr")]
    assert rows == [
        ["Time", "finished", "failed"],
        ["2031-03-12 02:00 UTC", "3", "1"],
        ["2031-03-12 02:01 UTC", "1", "0"],
    ]
    by_keyboard = [node.get("href") for node in root.iter("a")]
    assert by_keyboard == ["/ops/jobs?since=1", "/ops/definitions/Charge"]
    assert root.find("details/summary") is not None
    # What has not ended is drawn apart and says so.
    times, now = minutes(2), START + timedelta(seconds=90)
    for drawn in (charts.stacked_bars, charts.line):
        part = drawing(read(drawn(times, [Series("x", [3, 1])], id="c", title="x", step=60, now=now)))
        assert [node.get("class") for node in part.iter() if "so-far" in (node.get("class") or "")] == [
            "so-far"
        ]
        assert "2031-03-12 02:01 UTC, so far: x 1" in ET.tostring(part, "unicode")
    assert len(charts.stacked_bars(minutes(60), [Series("x", [5] * 60)], id="c", title="x", step=60)) < 45_000


def test_marks_that_lie_upon_each_other_are_one() -> None:
    near = [Mark(START + timedelta(seconds=n), MarkKind.REPLAY, f"op {n}") for n in range(3)]
    far = [
        Mark(START + timedelta(minutes=50), MarkKind.WORKER_LOSS, "w-1"),
        Mark(START - timedelta(1), MarkKind.DEPLOY, "old"),
    ]
    chart = charts.line(minutes(60), [Series("x", [1] * 60)], id="c", title="x", marks=[*far, *near])
    letters = [node.text for node in drawing(read(chart)).iter() if node.tag.endswith("text")]
    assert {"3", "W"} <= set(letters)
    assert "op 2" in chart
    assert "old" not in chart
    assert "Marks: R replay, W worker lost, a number: so many at once." in chart


@pytest.mark.parametrize(
    ("highest", "unit", "ticks"),
    [
        (0, Unit.COUNT, [0, 1]),
        (1, Unit.COUNT, [0, 1]),
        (7, Unit.COUNT, [0, 2, 4, 6, 8]),
        (1204, Unit.COUNT, [0, 500, 1000, 1500]),
        (0.3, Unit.MONEY, [0, 0.1, 0.2, 0.3]),
        (290, Unit.SECONDS, [0, 120, 240, 360]),
        (0.9, Unit.SHARE, [0, 0.25, 0.5, 0.75, 1]),
    ],
)
def test_ticks_are_round(highest: float, unit: Unit, ticks: list[float]) -> None:
    assert nice_ticks(highest, unit) == ticks


def test_moments_are_round_where_the_viewer_lives() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    ticks = time_ticks(START, START + timedelta(hours=24), berlin)
    assert [time_label(at, START, START + timedelta(hours=24), berlin) for at in ticks] == [
        "06:00", "12:00", "18:00", "00:00",
    ]  # fmt: skip
    clocks_change = datetime(2031, 3, 30, tzinfo=berlin)
    days = time_ticks(clocks_change, clocks_change + timedelta(days=6), berlin)
    assert {at.astimezone(berlin).hour for at in days} == {0}
    assert len(days) == 7
    for length in (timedelta(0), timedelta(seconds=3), timedelta(days=400), timedelta(days=30_000)):
        assert len(time_ticks(START, START + length, berlin)) <= 9


def test_figures_as_people_read_them() -> None:
    assert [charts.seconds(n) for n in (0, 0.25, 12, 59.99, 65, 22_320, 273_600, -5, None)] == [
        "0 s", "250 ms", "12 s", "1 min", "1 min 5 s", "6 h 12 min", "3 d 4 h", "−5 s", "–",
    ]  # fmt: skip
    assert [charts.share(n) for n in (0, 0.00001, 0.5, 0.9997, 1)] == [
        "0 %",
        "< 0.1 %",
        "50 %",
        "> 99.9 %",
        "100 %",
    ]
    assert [charts.figure(n) for n in (1204, 0.25, 10**18, None)] == ["1,204", "0.25", "1e+18", "–"]
