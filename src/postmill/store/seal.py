"""Statements on the chain that seals the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from postmill.domain.audit import Anchor
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


def chain(after: int, most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[tuple[int, UUID, bytes]]]:
    """Links of the chain from `after` on: number, id of the row, hash."""
    return Statement(
        "chain",
        sql("audit/chain", schema),
        (after, most),
        lambda rows: [(row[0], row[1], bytes(row[2])) for row in rows],
    )


def canonical(ids: Sequence[UUID], *, schema: str = DEFAULT_SCHEMA) -> Statement[dict[UUID, str]]:
    """The text that is sealed of each of these rows; one that is gone is not in it."""
    return Statement(
        "canonical",
        sql("audit/canonical", schema),
        (list(ids),),
        lambda rows: {row[0]: row[1] for row in rows},
    )


def strangers(*, schema: str = DEFAULT_SCHEMA) -> Statement[tuple[UUID, str] | None]:
    """The first row (id, action) that nobody wrote as one writes the log."""
    return Statement(
        "strangers",
        sql("audit/strangers", schema),
        (),
        lambda rows: (rows[0][0], rows[0][1]) if rows else None,
    )


def noted_end(*, schema: str = DEFAULT_SCHEMA) -> Statement[Anchor | None]:
    """How far the chain was when it was last sealed."""
    return Statement(
        "noted_end",
        sql("audit/noted_end", schema),
        (),
        lambda rows: (
            Anchor(rows[0][0], bytes.fromhex(rows[0][1])) if rows and rows[0][0] is not None else None
        ),
    )


def start(*, schema: str = DEFAULT_SCHEMA) -> Statement[Anchor]:
    """What is before the first link: the last one that was pruned, or nothing."""
    return Statement(
        "start", sql("audit/start", schema), (), lambda rows: Anchor(rows[0][0], bytes(rows[0][1]))
    )
