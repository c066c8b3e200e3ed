"""Statements on recovery rules."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class RecoveryRuleView:
    """A recovery rule that workers have run, and what came of it.

    `skipped` letters matched and were not replayed: as often as the rule allows, a later success, their replay class.
    """

    name: str
    rule: dict[str, Any]
    last_run_at: datetime | None
    replayed: int
    skipped: int
    replayed_hour: int


def read_recovery_rules(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[RecoveryRuleView]]:
    """The rules, by name; none within a tenant's scope."""
    return Statement(
        "read_recovery_rules",
        sql("dead/read_recovery_rules", schema),
        (),
        lambda rows: [RecoveryRuleView(row[0], json.loads(row[1]), *row[2:]) for row in rows],
    )
