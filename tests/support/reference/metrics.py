"""The metrics, from the families that `/metrics` shows."""

from __future__ import annotations

from collections.abc import Sequence

from postmill.telemetry.families_budgets import BUDGET_FAMILIES
from postmill.telemetry.families_fleet import FLEET_FAMILIES
from postmill.telemetry.families_jobs import JOB_FAMILIES
from postmill.telemetry.families_seeds import SEED_1_FAMILIES, SEED_2_FAMILIES
from postmill.telemetry.family import Family
from tests.support.reference.markdown import code, table


def tables() -> str:
    """Jobs, queues and worker, budgets, and the further names."""
    parts = (
        ("Jobs", JOB_FAMILIES),
        ("Queues and the worker", FLEET_FAMILIES),
        ("Budgets", BUDGET_FAMILIES),
        ("The same by other names", (*SEED_2_FAMILIES, *SEED_1_FAMILIES)),
    )
    return "\n".join(f"### {title}\n\n{_rows(families)}" for title, families in parts)


def _rows(families: Sequence[Family]) -> str:
    rows = [(code(one.name), one.kind, ", ".join(map(code, one.labels)), one.help) for one in families]
    return table(("metric", "kind", "labels", "meaning"), rows)
