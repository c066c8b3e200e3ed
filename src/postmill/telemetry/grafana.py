"""The dashboard as Grafana imports it (JSON model of Grafana 10 and newer)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postmill.telemetry.panels import ROWS, Panel

WHOLE = 24
"""Columns of Grafana's grid."""

SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def dashboard() -> dict[str, Any]:
    """The whole document. Its data source is chosen at the top of the page; so are queues and job types."""
    return {
        "uid": "postmill",
        "title": "Postmill",
        "description": "Jobs, queues, workers and API of a Postmill fleet.",
        "tags": ["postmill"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "",
        "templating": {"list": list(_variables())},
        "panels": list(_panels()),
    }


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    for name, label, metric in (
        ("queue", "Queue", "jobs_queue_depth"),
        ("job_type", "Job type", "jobs_started_total"),
    ):
        yield {
            "name": name,
            "label": label,
            "type": "query",
            "datasource": SOURCE,
            "query": {"query": f"label_values({metric}, {name})", "refId": name},
            "refresh": 2,
            "sort": 1,
            "includeAll": True,
            "multi": True,
            "allValue": ".*",
            "current": {"text": "All", "value": "$__all"},
        }


def _panels() -> Iterator[dict[str, Any]]:
    y = number = 0
    for row in ROWS:
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "gridPos": _place(0, y, WHOLE, 1),
            "panels": [],
        }
        y += 1
        x = height = 0
        for panel in row.panels:
            width, height = (WHOLE // 6, 4) if panel.kind == "stat" else (WHOLE // 3, 8)
            if x + width > WHOLE:
                x, y = 0, y + height
            number += 1
            yield _panel(panel, number, _place(x, y, width, height))
            x += width
        y += height


def _place(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": width, "h": height}


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    if panel.alarm is not None:
        steps.append({"color": "red", "value": panel.alarm})
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "min": 0, "thresholds": {"mode": "absolute", "steps": steps}},
            "overrides": [],
        },
        "targets": [
            {
                "refId": chr(ord("A") + n),
                "datasource": SOURCE,
                "expr": query.expr,
                "legendFormat": query.legend or "__auto",
                "instant": panel.kind == "stat",
                "range": panel.kind != "stat",
            }
            for n, query in enumerate(panel.queries)
        ],
    }
