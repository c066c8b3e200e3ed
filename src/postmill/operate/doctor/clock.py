"""How far apart are the clocks? The database's decides; a client's shows in logs and in what it schedules."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe

TRIES = 5
TOLERATED = 1.0
"""Seconds. Below it nobody notices."""

BROKEN = 60.0
"""Seconds. Above it `scheduled_for` instants that a client computes are plainly wrong."""


def check_clock(probe: Probe) -> Finding:
    """Skew by the quickest of a few round trips: the server's moment against the middle of the trip."""
    quickest, skew = float("inf"), 0.0
    for _ in range(TRIES):
        began, before = datetime.now(UTC), time.perf_counter()
        moment: datetime = probe.one("moment")["moment"]
        trip = time.perf_counter() - before
        if trip < quickest:
            quickest = trip
            skew = (moment - began).total_seconds() - trip / 2
    row = {"skew_seconds": round(skew, 6), "round_trip_seconds": round(quickest, 6)}
    side = "ahead of" if skew > 0 else "behind"
    summary = (
        f"round trip {quickest * 1000:.1f} ms; the server's clock is {abs(skew) * 1000:.0f} ms {side} ours"
    )
    if abs(skew) - quickest / 2 > BROKEN:
        advice = "set one of the clocks (NTP); instants computed here are wrong for the server"
        return Finding("clock", Level.FAIL, summary, advice, [row])
    if abs(skew) - quickest / 2 > TOLERATED:
        return Finding("clock", Level.WARN, summary, "let both machines follow NTP", [row])
    return Finding("clock", Level.OK, summary, "", [row])
