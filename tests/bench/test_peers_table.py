"""The comparison's table and chart, drawn from results alone: no peer runs here."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks import chart
from benchmarks.peers import table

EXPECTED = """\
| System | Keeps history | Drain, 1 process (jobs/s) | Drain, 2 processes (jobs/s) \
| Bulk enqueue (rows/s) | Single enqueue (commits/s) | Idle pick-up p50 / p99 (ms) |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
| Postmill 1.0 | yes | 30,000 | 45,000 | 61,234 | 2,345 | 0.8 / 2.3 |
| Postmill (lean) 1.0 | no | 30,000 | 45,000 | 61,234 | 2,345 | – |
| Slow 1.0 | yes | 450 | 45,000 | 61,234 | not run | 0.8 / 2.3 |

Measured 2026-01-02 in one run, one system after the other, each case in a database of its own: \
PostgreSQL 18.6 (`fsync = on`, `synchronous_commit = on`) on 2 cores and 24 GiB shared by server and \
workers. Drain of 100,000 no-op jobs, 3,000 single commits from one client, 200 pick-ups \
(from the enqueuing call's return to the handler's start).

- Postmill 1.0, Python 3.11.7; settings: its defaults.
- Postmill (lean) 1.0, Python 3.11.7; settings: its defaults.
- Slow 1.0, Python 3.11.7; settings: `{"batch": 1}`; drained 5,000 jobs only; single not run: exit status 2.
"""
SVG = "{http://www.w3.org/2000/svg}"


def system(name: str, **changes: Any) -> dict[str, Any]:
    """A system with a figure in each case."""
    figures = {
        "drain_1": {"jobs": 100_000, "jobs_per_s": 30_000},
        "drain_2": {"jobs": 100_000, "jobs_per_s": 45_000},
        "bulk": {"rows_per_s": 61_234},
        "single": {"commits_per_s": 2_345},
        "latency": {"p50_ms": 0.84, "p99_ms": 2.26},
    }
    whole = {
        "name": name,
        "version": "1.0",
        "runtime": "Python 3.11.7",
        "history": True,
        "settings": {},
        "most_jobs": None,
        "figures": figures,
        "not_run": {},
    }
    return {**whole, **changes}


@pytest.fixture
def results() -> dict[str, Any]:
    """A run in which one peer drained less, one case failed and one was not asked for."""
    slow = system("Slow", most_jobs=5000, settings={"batch": 1})
    slow["figures"]["drain_1"] = {"jobs": 5000, "jobs_per_s": 450}
    del slow["figures"]["single"]
    lean = system("Postmill (lean)", history=False)
    del lean["figures"]["latency"]
    return {
        "at": "2026-01-02T03:04:05+00:00",
        "machine": {"cores": 2, "memory_gib": 24, "system": "Linux"},
        "server": {"version": "18.6", "settings": {"fsync": "on", "synchronous_commit": "on"}},
        "run": {"jobs": 100_000, "commits": 3000, "samples": 200},
        "systems": [system("Postmill"), lean, {**slow, "not_run": {"single": "exit status 2"}}],
    }


def test_markdown_has_a_row_a_system_and_says_what_is_missing(results: dict[str, Any]) -> None:
    assert table.markdown(results) == EXPECTED


def test_bars_are_as_long_as_their_figures(results: dict[str, Any]) -> None:
    drawing = ElementTree.fromstring(chart.svg(results))
    widths = [
        float(bar.attrib["width"]) for bar in drawing.iter(f"{SVG}rect") if bar.attrib["class"] != "ground"
    ]
    drains = widths[:6]
    assert drains[0] / drains[1] == pytest.approx(30 / 45, rel=0.01)
    assert drains[4] / drains[1] == pytest.approx(450 / 45_000, rel=0.05)
    # Three systems: two bars each for the drain, one for bulk, two singles, two bars each of two latencies.
    assert len(widths) == 6 + 3 + 2 + 4


def test_nothing_leaves_the_picture_or_overlaps(results: dict[str, Any]) -> None:
    drawing = ElementTree.fromstring(chart.svg(results))
    height = float(drawing.attrib["height"])
    bars = [bar for bar in drawing.iter(f"{SVG}rect") if bar.attrib["class"] != "ground"]
    edges = sorted((float(bar.attrib["y"]), float(bar.attrib["height"])) for bar in bars)
    assert all(y + tall <= after for (y, tall), (after, _) in pairwise(edges))
    assert edges[-1][0] + edges[-1][1] < height
    assert all(float(bar.attrib["x"]) + float(bar.attrib["width"]) < chart.WIDTH for bar in bars)


def test_words_say_names_figures_and_gaps(results: dict[str, Any]) -> None:
    drawing = ElementTree.fromstring(chart.svg(results))
    words = [text.text for text in drawing.iter(f"{SVG}text")]
    assert words.count("Postmill") == 4
    assert words.count("Postmill (lean)*") == 3
    assert words.count("not run") == 1
    assert "45,000 2 processes" in words
    assert "2.3 p99" in words
    assert chart.FOOTNOTE in words
    assert drawing.attrib["role"] == "img"
    assert drawing.find(f"{SVG}title") is not None


def test_picture_brings_both_grounds_and_escapes_names(results: dict[str, Any]) -> None:
    results["systems"][2]["name"] = "<Slow> & Co"
    text = chart.svg(results)
    assert "prefers-color-scheme: dark" in text
    assert "<Slow>" not in text
    assert any(node.text == "<Slow> & Co" for node in ElementTree.fromstring(text).iter(f"{SVG}text"))


def test_no_figures_at_all_still_draws(results: dict[str, Any]) -> None:
    bare = system("Postmill", figures={}, not_run={"drain_1": "no.", "bulk": "no."})
    ElementTree.fromstring(chart.svg({**results, "systems": [bare]}))
    assert "drain_1, bulk not run: no." in table.markdown({**results, "systems": [bare]})
