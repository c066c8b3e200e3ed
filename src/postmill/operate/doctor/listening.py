"""Does a notification arrive? Everything works without, only later."""

from __future__ import annotations

import secrets
import time

import psycopg

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe, ask

PATIENCE = 3.0
"""Seconds until the round trip counts as failed."""

SILENT_ABOVE = 0.5
"""Share of the notification queue above which Postmill stops ringing."""

POLLING = "until then work is found by polling; a pooler in transaction mode does this: set listen_url"


def check_listen(probe: Probe) -> Finding:
    """LISTEN on one connection, NOTIFY on the other, and the time between."""
    used = float(probe.one("doctor_notification_queue")["used"])
    seconds = _round_trip(probe)
    row = {"round_trip_seconds": seconds, "queue_used": round(used, 4)}
    if seconds is None:
        summary = f"no notification arrived within {PATIENCE:g} s"
        return Finding("listen", Level.WARN, summary, POLLING, [row])
    summary = f"a notification takes {seconds * 1000:.1f} ms"
    if used > SILENT_ABOVE:
        advice = (
            "a session that listens in a long transaction keeps it full; Postmill does not ring meanwhile"
        )
        return Finding("listen", Level.WARN, f"{summary}; the queue is {used:.0%} full", advice, [row])
    return Finding("listen", Level.OK, summary, "", [row])


def _round_trip(probe: Probe) -> float | None:
    word = secrets.token_hex(8)
    listener = probe.listen() if probe.listen is not None else probe.conn
    try:
        ask(listener, probe.schema, "doctor_listen")
        began = time.perf_counter()
        probe.ask("doctor_notify", word)
        return _heard(listener, word, began)
    finally:
        if listener is probe.conn:
            ask(listener, probe.schema, "doctor_unlisten")
        else:
            listener.close()


def _heard(listener: psycopg.Connection[object], word: str, began: float) -> float | None:
    while (left := began + PATIENCE - time.perf_counter()) > 0:
        for notice in listener.notifies(timeout=left, stop_after=1):
            if notice.payload == word:
                return time.perf_counter() - began
    return None
