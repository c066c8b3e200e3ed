"""Metrics of your own handlers, on the page of the worker that runs them.

    items = counter("rss.fetch.items.total", "Feed items.", labels=("source_id", "status"))
    items.labels(source_id=source.id, status="new").inc()

Made once, at the top of a module. Dotted names become Prometheus' (`rss_fetch_items_total`), and the values of labels are
bounded: of each label the first `most` are kept apart, all further ones count as `other`.
"""

from __future__ import annotations

from postmill.telemetry.own import Bounded, counter, gauge, timer

__all__ = ["counter", "gauge", "timer", "Bounded"]
