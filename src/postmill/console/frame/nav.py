"""The pages that the navigation shows, with the keys that lead to them after `g`."""

from __future__ import annotations

from dataclasses import dataclass

from postmill.domain.access import Action


@dataclass(frozen=True, slots=True)
class Entry:
    """A page of the navigation.

    Attributes:
        name: as it is shown (a message of the catalogue).
        path: below the scope's prefix.
        action: who may not do this does not see it.
        ops, tenant: the scopes that have it.
        key: the second key after `g`; none where it has none.
    """

    name: str
    path: str
    action: Action
    ops: bool = True
    tenant: bool = True
    key: str | None = None


def N_(message: str) -> str:
    """Marks a message for the catalogue; it is translated where it is shown."""
    return message


ENTRIES: tuple[Entry, ...] = (
    Entry(N_("Now"), "", Action.INCIDENTS_READ, tenant=False, key="n"),
    Entry(N_("Overview"), "", Action.JOBS_READ, ops=False, key="n"),
    Entry(N_("Jobs"), "/jobs", Action.JOBS_READ, key="j"),
    Entry(N_("Workflows"), "/workflows", Action.JOBS_READ, key="f"),
    Entry(N_("Errors"), "/errors", Action.DEAD_READ, key="e"),
    Entry(N_("Dead letters"), "/dead", Action.DEAD_READ, key="d"),
    Entry(N_("Bulk operations"), "/ops-log", Action.DEAD_READ, key="o"),
    Entry(N_("Triggers"), "/triggers", Action.TRIGGERS_READ, key="t"),
    Entry(N_("Queues"), "/queues", Action.QUEUES_READ, tenant=False, key="q"),
    Entry(N_("Workers"), "/workers", Action.WORKERS_READ, tenant=False, key="w"),
    Entry(N_("Tenants"), "/tenants", Action.TENANTS_READ, tenant=False, key="c"),
    Entry(N_("Definitions"), "/definitions", Action.DEFINITIONS_READ, key="y"),
    Entry(N_("Budgets & limits"), "/budgets", Action.BUDGETS_READ, key="b"),
    Entry(N_("Audit"), "/audit", Action.AUDIT_READ, key="a"),
    Entry(N_("System"), "/system", Action.DOCTOR_READ, tenant=False, key="s"),
    Entry(N_("Access"), "/settings", Action.KEYS_READ, key="k"),
)
