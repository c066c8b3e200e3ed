"""What is shipped for Grafana and Prometheus: it fits what is exported, and promtool accepts it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import yaml

from postmill.cli.commands.dashboards import DOCUMENTS, Kind
from postmill.telemetry.counters import Counters
from postmill.telemetry.grafana import dashboard
from postmill.telemetry.metrics import FAMILIES, render
from tests.cli.support import cli
from tests.support.prometheus import promtool, write_rules
from tests.telemetry.test_metrics import worked

ALERTS = Path(__file__).parent / "alerts_test.yml"
NAME = re.compile(r"\b((?:jobs?|postmill|deadletter|screenshot)_[a-z_0-9]+)\b(?!\s*=)")
LABELS = {"job_type"}

NOTE = {
    "depths": [["q", "t", status, 1, 1.0] for status in ("queued", "dead_letter")],
    "types": {"t": 1},
    "limits": [["t", 1.0, 0.5]],
    "budgets": [["ai", "", "USD", 1, 5.0, 1.0, 0.0]],
    "archive": [1, 2.0, 1],
    "workers": {"running": 1},
    "incidents": [["budget", "info", "", 1]],
}
"""A monitor's note that has something of everything."""

DISLIKED = {
    ("jobs_attempts_histogram", "metric name should not include type 'histogram'"): "seed 5 calls it so",
    ("job_queue_backlog_total", 'non-counter metrics should not have "_total" suffix'): "seed 1 calls it so",
    ("job_budget_consumed_dollars", 'counter metrics should have "_total" suffix'): "seed 1 calls it so",
}
"""What promtool's linter has against our names, and why it stays."""


def test_rules_and_the_example_of_a_configuration(tmp_path: Path) -> None:
    write_rules(tmp_path)
    code, said = promtool("check", "config", str(tmp_path / "prometheus.yml"))
    assert code == 0, said
    assert "2 rule files found" in said
    shutil.copy(ALERTS, tmp_path)
    code, said = promtool("test", "rules", str(tmp_path / ALERTS.name))
    assert code == 0, said
    rules = yaml.safe_load(DOCUMENTS[Kind.ALERTS].text())["groups"][0]["rules"]
    tested = {one["alertname"] for test in yaml.safe_load(ALERTS.read_text())["tests"]
              for one in test["alert_rule_test"] if one["exp_alerts"]}  # fmt: skip
    assert {rule["alert"] for rule in rules} == tested


def test_only_what_is_exported_is_asked_for() -> None:
    exported = {family.name for family in FAMILIES} | {
        "postmill_http_requests_total",
        "postmill_http_request_seconds",
    }
    whole = "".join(document.text() for kind, document in DOCUMENTS.items() if kind is not Kind.SCRAPE)
    asked = {name.removesuffix("_bucket") for name in NAME.findall(whole)} - LABELS
    assert asked - exported == set()
    worker = yaml.safe_load(DOCUMENTS[Kind.SCRAPE].text())["scrape_configs"][1]
    dropped = worker["metric_relabel_configs"][0]["regex"]
    # What is measured of the fleet is shown by each worker that does upkeep, and must be dropped there.
    counters = Counters()
    counters.gauges.noted(NOTE)
    alike = {family.name for family in FAMILIES if family.kind == "gauge" and list(family.read(counters))}
    alike -= {family.name for family in FAMILIES if list(family.read(Counters()))}
    assert {name for name in exported if re.fullmatch(dropped, name)} == alike


def test_promtools_linter_dislikes_only_what_is_listed() -> None:
    counters = worked()
    counters.gauges.enqueued = {("enrich", "q:default"): 5}
    counters.spend("enrich", "USD", 1.25)
    _, said = promtool("check", "metrics", stdin=render(counters))
    assert {tuple(line.split(" ", 1)) for line in said.splitlines() if line} == set(DISLIKED)


def test_the_dashboard_is_laid_out_without_holes_or_overlaps() -> None:
    panels = dashboard()["panels"]
    assert [panel["id"] for panel in panels] == list(range(1, len(panels) + 1))
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert max(x for x, _ in cells) < 24
        assert not cells & taken
        taken |= cells
    titles = [panel["title"] for panel in panels if panel["type"] != "row"]
    for wanted in ("Jobs a minute", "Success, retries, dead letters", "Run time", "Jobs by state", "Oldest waiting job",
                   "Workers", "Leases a minute", "Budgets used", "Dollars an hour", "Requests a second"):  # fmt: skip
        assert wanted in titles


def test_the_command_prints_lists_and_writes(tmp_path: Path) -> None:
    listed = cli("dashboards", "--json")
    assert [row["which"] for row in listed.json] == list(Kind)
    assert json.loads(cli("dashboards", "grafana").out) == dashboard()
    assert cli("dashboards", "alerts").out == DOCUMENTS[Kind.ALERTS].text()
    assert cli("dashboards", "alerts", "--json").json["content"] == DOCUMENTS[Kind.ALERTS].text()
    folder = tmp_path / "new" / "monitoring"
    written = cli("dashboards", "--output", str(folder), "--json")
    assert sorted(row["file"] for row in written.json) == sorted(map(str, folder.iterdir()))
    cli("dashboards", "recording", "-o", str(tmp_path))
    assert (tmp_path / "recording.yml").read_text() == DOCUMENTS[Kind.RECORDING].text()
    refused = cli("dashboards", "grafna")
    assert refused.code == 2
    assert "did you mean grafana?" in refused.err
