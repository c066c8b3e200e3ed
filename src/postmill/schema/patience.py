"""A migration that cannot have a table steps back, lets those behind it through, and tries again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import psycopg

from postmill.domain.errors import PostmillError
from postmill.schema.migration import Migration
from postmill.store.catalog import sql

PATIENCE = 600.0
"""Seconds to go on trying, for one migration."""

LONGEST_PAUSE = 10.0
FIRST_PAUSE = 0.5


class SchemaBusy(PostmillError):
    """Open transactions held a table for so long that the migration was given up; names them. Run it again."""


class Patience:
    """Of one migration.

    Args:
        conn: outside of a transaction when `wait` is called.
        most: seconds in all.
        told: is told once whom it waits for.
    """

    def __init__(
        self,
        conn: psycopg.Connection[Any],
        schema: str,
        migration: Migration,
        most: float,
        told: Callable[[str], object],
    ) -> None:
        self._conn = conn
        self._schema = schema
        self._name = f"{migration.version:04}_{migration.name}"
        self._most = most
        self._told = told
        self._since: float | None = None
        self._pause = FIRST_PAUSE

    def wait(self, fault: psycopg.Error) -> None:
        """Pause before the next try, longer each time, so that work flows in between. Raises SchemaBusy after `most` s."""
        now = time.monotonic()
        holders = self._holders()
        if self._since is None:
            self._since = now
            self._told(f"{self._name} waits for {holders}; work goes on meanwhile")
        if now - self._since >= self._most:
            raise SchemaBusy(
                f"{self._name} could not have its tables within {self._most:g} s, because of {holders};"
                " end those transactions, then run postmill migrate again"
            ) from fault
        time.sleep(self._pause * random.uniform(0.75, 1.25))
        self._pause = min(self._pause * 2, LONGEST_PAUSE)

    def _holders(self) -> str:
        rows = self._conn.execute(sql("schema/holders", self._schema)).fetchall()
        named = [f"process {pid} ({name}, {state}, since {since})" for pid, name, state, since in rows]
        return ", ".join(named) or "transactions that have ended since"
