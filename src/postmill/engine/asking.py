"""How a handler's budgets ask the database: repeatable statements, asked again while it is away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import psycopg

from postmill.engine.database import is_conflict, is_outage
from postmill.engine.transaction import Transactions
from postmill.store.statement import Statement

T = TypeVar("T")

PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds between two tries: about a quarter of a minute in all, which a restart of the server fits in."""


class Asking:
    """The statements must be safe to be run twice: an answer may get lost.

    Attributes:
        spent: told of what was newly booked: unit and amount.
    """

    __slots__ = ("_transactions", "spent")

    def __init__(self, transactions: Transactions, spent: Callable[[str, float], None]) -> None:
        self._transactions = transactions
        self.spent = spent

    @property
    def schema(self) -> str:
        """Postmill's schema."""
        return self._transactions.schema

    def ask(self, statement: Statement[T]) -> T:
        """Run it. Raises psycopg.Error, OSError where the database stays away."""
        pauses = iter(PAUSES)
        while True:
            try:
                return self._transactions.run(statement)
            except (psycopg.Error, OSError) as error:
                time.sleep(_pause(error, pauses))

    async def aask(self, statement: Statement[T]) -> T:
        """As `ask`, awaited."""
        pauses = iter(PAUSES)
        while True:
            try:
                return await self._transactions.arun(statement)
            except (psycopg.Error, OSError) as error:
                await asyncio.sleep(_pause(error, pauses))

    def ask_once(self, statement: Statement[T]) -> T:
        """Run it, once."""
        return self._transactions.run(statement)

    async def aask_once(self, statement: Statement[T]) -> T:
        """As `ask_once`, awaited."""
        return await self._transactions.arun(statement)


def _pause(error: BaseException, pauses: Iterator[float]) -> float:
    pause = next(pauses, None)
    if pause is None or not (is_outage(error) or is_conflict(error)):
        raise error
    return pause
