"""Everything that watches a worker, within its own process: its log, its page of metrics, and somebody who scrapes it."""

from __future__ import annotations

import os
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.http import MetricsServer
from postmill.telemetry.logs import log_subscriber
from postmill.telemetry.metrics import render

SCRAPE_EVERY = 5.0
"""Seconds; Prometheus itself asks every fifteen."""


@contextmanager
def watched(bus: Bus, counters: Counters) -> Iterator[None]:
    """Logs of level info, as by default, and a scrape every five seconds, until the end."""
    ended = threading.Event()
    with open(os.devnull, "w") as nowhere, MetricsServer(lambda: render(counters)) as server:
        unsubscribe = log_subscriber(nowhere, "json", "info").subscribe(bus)

        def scrape() -> None:
            while True:
                with urllib.request.urlopen(f"{server.url}/metrics") as page:
                    page.read()
                if ended.wait(SCRAPE_EVERY):
                    return

        thread = threading.Thread(target=scrape, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            unsubscribe()
