"""Tables that take far more than what lives in them: after a flood, or a horizon that was pinned for long."""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe, Row

SMALL = 64 << 20
"""Bytes of a table with its indexes that are not worth a word."""

ROW = 1024
"""Bytes a row with its index entries; a ticket takes about 250."""

TIMES = 3.0
"""How many times what its rows should take a table may take."""

LARGEST = 15
"""So many tables are looked at."""


def check_bloat(probe: Probe) -> Finding:
    """Hot tables by size, and by what their rows should take."""
    rows = probe.ask("doctor_bloat")
    bloated = [row for row in rows if _size(row) > SMALL and _size(row) > ROW * row["live"]]
    hot = {row["name"] for row in rows}
    for row in probe.ask("table_sizes", LARGEST):
        name = str(row["name"]).rpartition(".")[2]
        if bloated_by_statistics(row) and name not in hot:
            bloated.append({**row, "name": name, "live": row["rows"]})
    if not bloated:
        largest = (
            f"; the largest that turns over is {rows[0]['name']}, {_mib(_size(rows[0]))}" if rows else ""
        )
        told = f"no table above {_mib(SMALL)} is bloated{largest}"
        return Finding("bloat", Level.OK, told, "", rows)
    told = ", ".join(f"{row['name']} takes {_mib(_size(row))} for {row['live']:,} rows" for row in bloated)
    names = ", ".join(f"{probe.schema}.{row['name']}" for row in bloated)
    indexes = f"reindex table concurrently {probe.schema}.{bloated[0]['name']}"
    advice = f"Postmill stays quick; to get the space back: vacuum {names}, then {indexes}"
    return Finding("bloat", Level.WARN, told, advice, rows)


def bloated_by_statistics(row: Row) -> bool:
    """Whether a table (of `table_sizes`) takes far more than its rows should by the width of their columns."""
    expected = row["expected"]
    return _size(row) > SMALL and bool(expected) and int(row["heap"]) > TIMES * float(expected)


def _size(row: Row) -> int:
    return int(row["heap"]) + int(row["indexes"])


def _mib(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB"
