"""Is there a pooler between us and the server, and does it bear what we do?"""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.pooling import bears_prepared, changes_hands
from postmill.operate.doctor.probe import Probe

PREPARED_OFF = (
    "set prepared_statements = false (or let pgbouncer 1.21 or newer do it: max_prepared_statements)"
)


def check_pooler(probe: Probe) -> Finding:
    """In session mode a pooler bears all. In transaction mode LISTEN does not hold (see `listen`), nor what was prepared.

    Where the process that answers is not the one that the connection was told, a pooler is in between: it makes up its
    own numbers.
    """
    told, answers = probe.conn.info.backend_pid, int(probe.one("doctor_backend")["pid"])
    with probe.another() as other:
        transactional = changes_hands(probe.conn, other, probe.schema)
        prepares = not transactional or bears_prepared(probe.conn, other)
    row = {"told_pid": told, "answered_pid": answers, "transaction_mode": transactional, "prepares": prepares}
    if not transactional:
        direct = answers == told
        summary = "a direct connection" if direct else "a pooler (pgbouncer?) in session mode is in between"
        return Finding("pooler", Level.OK, summary, "", [row])
    summary = "a pooler (pgbouncer?) in transaction mode is in between"
    if prepares:
        return Finding("pooler", Level.OK, summary, "", [row])
    summary += ", which does not bear prepared statements"
    if probe.prepared:
        return Finding("pooler", Level.FAIL, summary, PREPARED_OFF, [row])
    return Finding("pooler", Level.OK, f"{summary}; they are switched off", "", [row])
