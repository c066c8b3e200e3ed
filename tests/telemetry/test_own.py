"""Metrics of handlers: names in Prometheus' form, labels within bounds."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry

from postmill.telemetry.own import counter, gauge, prometheus_name, timer


def test_dotted_names_and_bounded_labels() -> None:
    registry = CollectorRegistry()
    items = counter(
        "rss.fetch.items.total", "Feed items.", ("source_id", "status"), most=3, registry=registry
    )
    for n in range(10):
        items.labels(source_id=n, status="new").inc()
    assert registry.get_sample_value("rss_fetch_items_total", {"source_id": "2", "status": "new"}) == 1
    assert registry.get_sample_value("rss_fetch_items_total", {"source_id": "other", "status": "new"}) == 7
    with pytest.raises(ValueError, match="labels are source_id, status, not source"):
        items.labels(source=1)
    gauge("ai.budget.percent_used", "Per cent.", registry=registry).labels().set(12.5)
    assert registry.get_sample_value("ai_budget_percent_used") == 12.5
    timer("rss.fetch.duration", "Seconds.", ("result",), registry=registry).labels(result="success").observe(
        0.2
    )
    assert registry.get_sample_value("rss_fetch_duration_bucket", {"result": "success", "le": "0.25"}) == 1
    with pytest.raises(ValueError, match="no name of a metric"):
        prometheus_name("2 fast!")
