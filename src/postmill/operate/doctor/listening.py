"""Does a notification arrive? Everything works without, only later."""

from __future__ import annotations

import secrets
import time

import psycopg

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.pooling import changes_hands
from postmill.operate.doctor.probe import Probe, ask

PATIENCE = 3.0
"""Seconds until the round trip counts as failed."""

SILENT_ABOVE = 0.5
"""Share of the notification queue above which Postmill stops ringing."""

POLLING = "until then work is found by polling"


def check_listen(probe: Probe) -> Finding:
    """LISTEN on one connection, NOTIFY on another, and the time between.

    On one and the same it would be heard through a pooler in transaction mode, too, which afterwards gives the process that
    listens to somebody else.
    """
    if not probe.notify:
        return Finding("listen", Level.OK, "the setting notify is off: work is found by polling")
    used = float(probe.one("doctor_notification_queue")["used"])
    opened = probe.listen or probe.another
    with opened() as listener, opened() as other:
        if changes_hands(listener, other, probe.schema):
            summary = "LISTEN does not hold here: a pooler in transaction mode is in between"
            return Finding("listen", Level.WARN, summary, f"set listen_url to a direct connection; {POLLING}")
        seconds = _round_trip(probe, listener)
    row = {"round_trip_seconds": seconds, "queue_used": round(used, 4)}
    if seconds is None:
        summary = f"no notification arrived within {PATIENCE:g} s"
        advice = f"does listen_url lead to the same database? {POLLING}"
        return Finding("listen", Level.WARN, summary, advice, [row])
    summary = f"a notification takes {seconds * 1000:.1f} ms"
    if used > SILENT_ABOVE:
        advice = (
            "a session that listens in a long transaction keeps it full; Postmill does not ring meanwhile"
        )
        return Finding("listen", Level.WARN, f"{summary}; the queue is {used:.0%} full", advice, [row])
    return Finding("listen", Level.OK, summary, "", [row])


def _round_trip(probe: Probe, listener: psycopg.Connection[object]) -> float | None:
    word = secrets.token_hex(8)
    ask(listener, probe.schema, "doctor_listen")
    began = time.perf_counter()
    probe.ask("doctor_notify", word)
    return _heard(listener, word, began)


def _heard(listener: psycopg.Connection[object], word: str, began: float) -> float | None:
    while (left := began + PATIENCE - time.perf_counter()) > 0:
        for notice in listener.notifies(timeout=left, stop_after=1):
            if notice.payload == word:
                return time.perf_counter() - began
    return None
