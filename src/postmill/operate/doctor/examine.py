"""One round of all checks. A check that cannot be made is a finding, too, and stops no other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import psycopg

from postmill.domain.errors import InvalidValue
from postmill.domain.suggest import did_you_mean
from postmill.operate.doctor.archive import check_archive
from postmill.operate.doctor.bloat import check_bloat
from postmill.operate.doctor.cells import check_cells
from postmill.operate.doctor.clock import check_clock
from postmill.operate.doctor.finding import Finding, Level, worst
from postmill.operate.doctor.fleet import check_job_types, check_upkeep, check_workers
from postmill.operate.doctor.horizon import check_horizon
from postmill.operate.doctor.incidents import check_incidents
from postmill.operate.doctor.jobs import check_invariants
from postmill.operate.doctor.listening import check_listen
from postmill.operate.doctor.migrations import check_migrations
from postmill.operate.doctor.moves import check_moves
from postmill.operate.doctor.partitions import check_partitions
from postmill.operate.doctor.permissions import check_permissions
from postmill.operate.doctor.pooler import check_pooler
from postmill.operate.doctor.probe import SLOWEST, Probe
from postmill.operate.doctor.replication import check_replication
from postmill.operate.doctor.rollups import check_rollups
from postmill.operate.doctor.server import check_server, check_settings
from postmill.operate.doctor.strays import check_strays
from postmill.operate.doctor.tables import check_connections, check_dead_rows, check_queues
from postmill.operate.doctor.unserved import check_unserved

Check = Callable[[Probe], Finding]

# The first group needs no schema; the second is left out where there is none.
SERVER_CHECKS: dict[str, Check] = {
    "server": check_server,
    "settings": check_settings,
    "pooler": check_pooler,
    "listen": check_listen,
    "migrations": check_migrations,
}
SCHEMA_CHECKS: dict[str, Check] = {
    "permissions": check_permissions,
    "clock": check_clock,
    "connections": check_connections,
    "horizon": check_horizon,
    "replication": check_replication,
    "dead_rows": check_dead_rows,
    "bloat": check_bloat,
    "partitions": check_partitions,
    "archive": check_archive,
    "workers": check_workers,
    "upkeep": check_upkeep,
    "rollups": check_rollups,
    "job_types": check_job_types,
    "queues": check_queues,
    "incidents": check_incidents,
    "moves": check_moves,
    "cells": check_cells,
    "unserved": check_unserved,
    "strays": check_strays,
    "invariants": check_invariants,
}
CHECKS: dict[str, Check] = SERVER_CHECKS | SCHEMA_CHECKS


@dataclass(frozen=True, slots=True)
class Report:
    """All findings of a round, and the level of the worst."""

    level: Level
    findings: list[Finding]


def examine(probe: Probe, only: Collection[str] = ()) -> Report:
    """All checks, in order; or `only` those of these names.

    Raises:
        InvalidValue: there is no check of that name; says which there are.
    """
    findings = list(findings_of(probe, only))
    return Report(worst(findings), findings)


def findings_of(probe: Probe, only: Collection[str] = ()) -> Iterator[Finding]:
    """Finding by finding, so that a person sees the first while the last is still being made. Raises as `examine`."""
    for name in only:
        if name not in CHECKS:
            raise InvalidValue(f"there is no check {name!r}{did_you_mean(name, CHECKS, noun='checks')}")
    return _findings(probe, frozenset(only) or CHECKS.keys())


def _findings(probe: Probe, chosen: Collection[str]) -> Iterator[Finding]:
    yield from (_guarded(name, check, probe) for name, check in SERVER_CHECKS.items() if name in chosen)
    asked = [(name, check) for name, check in SCHEMA_CHECKS.items() if name in chosen]
    if asked and probe.one("doctor_schema_exists").get("found"):
        yield from (_guarded(name, check, probe) for name, check in asked)
    elif asked and "migrations" not in chosen:
        yield _guarded("migrations", check_migrations, probe)


def _guarded(name: str, check: Check, probe: Probe) -> Finding:
    try:
        if name in ("listen", "pooler"):
            # Both are about what happens between transactions.
            return check(probe)
        with probe.conn.transaction():
            probe.ask("doctor_time_limit", SLOWEST)
            return check(probe)
    except psycopg.errors.QueryCanceled:
        return Finding(
            name, Level.WARN, f"took longer than {SLOWEST}", "the server is busy, or the table is huge"
        )
    except psycopg.errors.InsufficientPrivilege as fault:
        message = str(fault).partition("\n")[0]
        return Finding(
            name, Level.WARN, f"this role may not look: {message}", "run doctor as the owner of the schema"
        )
    except psycopg.Error as fault:
        message = str(fault).partition("\n")[0]
        return Finding(name, Level.FAIL, f"cannot be checked: {message}", "see the server's log")
