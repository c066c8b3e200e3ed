"""Statements of a move on one of its two cells: gates, tickets that are parked, rows that are carried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Carried:
    """A table that a move carries; see carried_tables() for how."""

    name: str
    how: str
    moment: str | None

    @property
    def ahead(self) -> bool:
        """Whether its rows go ahead by stretches of time: they are the most."""
        return self.how in ("grows", "kept") and self.moment is not None


@dataclass(frozen=True, slots=True)
class Gate:
    """What a move holds of a tenant in a cell; `stage` None: nothing, the tenant may be here."""

    stage: str | None
    cell: str | None
    move_id: UUID | None


@dataclass(frozen=True, slots=True)
class Load:
    """About how much a tenant has in a cell, and what stands in the way of a move."""

    id: UUID
    slug: str
    name: str
    status: str
    jobs: int
    running: int
    dead_letters: int
    triggers: int
    keys: int
    operations: int


@dataclass(frozen=True, slots=True)
class Held:
    """What a tenant's tickets are at: how many came back to wait, what runs (job and type), and what else goes on."""

    parked: int
    busy: bool
    running: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Lasting:
    """A transaction that goes on."""

    id: str
    pid: int | None
    application: str | None


def carried_tables(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[Carried]]:
    """What is carried, in the order in which it is put down."""
    return _one("carried_tables", (), lambda rows: [Carried(*row) for row in rows], schema)


def left_tables(*, schema: str = DEFAULT_SCHEMA) -> Statement[dict[str, str]]:
    """What has a tenant and stays behind, and why."""
    return _one("left_tables", (), lambda rows: {row[0]: row[1] for row in rows}, schema)


def count_rows(tenant: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[Load | None]:
    """None: there is no such tenant here."""
    return _one("count_rows", (tenant,), lambda rows: Load(*rows[0]) if rows else None, schema)


def set_gate(
    tenant: UUID,
    stage: str,
    cell: str,
    move: UUID,
    after: Sequence[str],
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[tuple[bool, datetime]]:
    """Whether the gate is at `stage` now, where it was at one of `after` or was there already; and the clock."""
    args = (tenant, stage, cell, move, list(after))
    return _one("set_gate", args, lambda rows: (bool(rows[0][0]), rows[0][1]), schema)


def read_gate(tenant: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[Gate]:
    """The gate of a tenant."""
    return _one("read_gate", (tenant,), lambda rows: Gate(*rows[0][:3]), schema)


def lock_gate(tenant: UUID, move: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[str | None]:
    """The stage of this move's gate, which stays so until the transaction ends; None: it has none."""
    return _one("lock_gate", (tenant, move), lambda rows: str(rows[0][0]) if rows else None, schema)


def hold_tickets(tenant: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[Held]:
    """Puts what waits where nobody claims it, and says what still goes on."""
    return _one("hold_tickets", (tenant,), lambda rows: Held(rows[0][0], rows[0][1], rows[0][2]), schema)


def unpark_tickets(tenant: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[int]:
    """And back."""
    return _one("unpark_tickets", (tenant,), _number, schema)


def lock_tickets(tenant: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[int]:
    """Holds a tenant's tickets until the transaction ends."""
    return _one("lock_tickets", (tenant,), _number, schema)


def open_transactions(
    *, schema: str = DEFAULT_SCHEMA
) -> Statement[tuple[datetime, list[str], datetime | None]]:
    """The clock, the transactions that are open, and when the first partition begins."""
    return _one("open_transactions", (), lambda rows: (rows[0][0], list(rows[0][1]), rows[0][2]), schema)


def lasting_transactions(ids: Sequence[str], *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Lasting]]:
    """Those of the transactions that go on."""
    return _one("lasting_transactions", (list(ids),), lambda rows: [Lasting(*row) for row in rows], schema)


def copy_out(
    table: str, tenant: UUID, since: datetime | None, until: datetime | None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[str]:
    """The COPY that reads a tenant's rows."""
    return _one("copy_out", (table, tenant, since, until), lambda rows: str(rows[0][0]), schema)


def copy_in(table: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[str]:
    """The COPY into a place of this transaction."""
    return _one("copy_in", (table,), lambda rows: str(rows[0][0]), schema)


def carry_in(table: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[int]:
    """Puts down what arrived; how many rows were new."""
    return _one("carry_in", (table,), _number, schema)


def carry_digests(tenant: UUID, since: datetime | None, *, schema: str = DEFAULT_SCHEMA) -> Statement[str]:
    """The COPY that reads the digests of what a cell has."""
    return _one("carry_digests", (tenant, since), lambda rows: str(rows[0][0]), schema)


def carry_known(*, schema: str = DEFAULT_SCHEMA) -> Statement[str]:
    """The COPY into a place for them, of this session."""
    return _one("carry_known", (), lambda rows: str(rows[0][0]), schema)


def carry_rest(
    tenant: UUID, since: datetime | None, last: bool, *, schema: str = DEFAULT_SCHEMA
) -> Statement[str]:
    """The COPY that reads what the other side has not got; `last`: and what is carried at the switch only."""
    return _one("carry_rest", (tenant, since, last), lambda rows: str(rows[0][0]), schema)


def carry_place(*, schema: str = DEFAULT_SCHEMA) -> Statement[str]:
    """The COPY into a place for it, of this transaction."""
    return _one("carry_place", (), lambda rows: str(rows[0][0]), schema)


def carry_down(tenant: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[dict[str, int]]:
    """Puts down what arrived; how many rows of each table were new."""
    return _one("carry_down", (tenant,), lambda rows: dict(rows[0][0]), schema)


def sum_up(*, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """Sums up what was counted of late, which would be left behind."""
    return _one("sum_up", (), lambda rows: None, schema)


def has_tenant(tenant: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[bool]:
    """Whether the cell has a row of that tenant."""
    return _one("has_tenant", (tenant,), lambda rows: bool(rows[0][0]), schema)


def same_text(*, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """Lets a session write rows as text in the one way."""
    return _one("same_text", (), lambda rows: None, schema)


def carry_off(
    table: str,
    tenant: UUID,
    move: UUID,
    since: datetime | None = None,
    until: datetime | None = None,
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[int]:
    """Takes away a tenant's rows of a table; how many."""
    return _one("carry_off", (table, tenant, move, since, until), _number, schema)


def definitions_here(*, schema: str = DEFAULT_SCHEMA) -> Statement[dict[UUID, str]]:
    """Keys of the definitions of a cell, by id."""
    return _one("definitions_here", (), lambda rows: {row[0]: row[1] for row in rows}, schema)


def note_definitions(known: dict[UUID, str], *, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """Tells the cell, for this transaction, the other one's definitions."""
    return _one("note_definitions", (list(known), list(known.values())), lambda rows: None, schema)


def ensure_partitions(moment: datetime, *, schema: str = DEFAULT_SCHEMA) -> Statement[int]:
    """Makes the partitions that history of that moment needs."""
    return _one("ensure_partitions", (moment,), _number, schema)


def mark_database(mark: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """Leaves a mark in a database while the session lasts."""
    return _one("mark_database", (mark,), lambda rows: None, schema)


def is_marked(mark: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[bool]:
    """Whether that mark is in this database."""
    return _one("is_marked", (mark,), lambda rows: bool(rows[0][0]), schema)


def _number(rows: Any) -> int:
    return int(rows[0][0])


def _one(name: str, args: tuple[Any, ...], decode: Any, schema: str) -> Statement[Any]:
    return Statement(name, sql(f"cells/{name}", schema), args, decode)
