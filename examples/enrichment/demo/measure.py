"""What the demo reads from the database while it runs, and at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import class_row

from examples.enrichment.statements import text

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Progress:
    """Items and jobs of one capture. `next_retry` is in seconds from now."""

    captured: int
    enriched: int
    discarded: int
    running: int
    retrying: int
    failed: int
    ended: int
    next_retry: float

    @property
    def settled(self) -> bool:
        """Whether no job has anything left to do."""
        return self.ended == self.captured


@dataclass(frozen=True, slots=True)
class PickUp:
    """Seconds: from enqueue to handler start (p50, p99), in the handler, and from capture to enriched."""

    started: int
    p50: float
    p99: float
    handler_p50: float
    item_p50: float
    item_max: float


@dataclass(frozen=True, slots=True)
class Latest:
    """An item that has just been enriched."""

    language: str
    title: str
    source: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many items have a language or a phrase."""

    name: str
    items: int


@dataclass(frozen=True, slots=True)
class Card:
    """An item to read."""

    language: str
    title: str
    summary: str
    key_phrases: list[str]
    source: str


@dataclass(frozen=True, slots=True)
class Retried:
    """Attempts that ended with one error; waits in seconds until the next attempt began."""

    error: str
    attempts: int
    items: int
    recovered: int
    shortest_wait: float
    longest_wait: float


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of one item; times in seconds after its capture."""

    title: str
    attempt_no: int
    status: str
    error_text: str | None
    worker_id: str
    started: float
    finished: float


class Measures:
    """The figures of one capture, each read anew."""

    def __init__(self, conn: AsyncConnection[Any], capture_id: UUID) -> None:
        self._conn = conn
        self._capture = {"capture_id": capture_id}

    async def progress(self) -> Progress:
        """Where everything is now."""
        return (await self._rows("progress", Progress))[0]

    async def pick_up(self) -> PickUp:
        """The times so far."""
        return (await self._rows("pick_up", PickUp))[0]

    async def latest(self) -> list[Latest]:
        """What was enriched last, the newest first."""
        return await self._rows("latest", Latest)

    async def languages(self) -> list[Count]:
        """Items by language."""
        return await self._counts("languages")

    async def top_phrases(self) -> list[Count]:
        """Items by key phrase."""
        return await self._counts("top_phrases")

    async def cards(self) -> list[Card]:
        """Items to read, one of each language."""
        return await self._rows("cards", Card)

    async def retries(self) -> list[Retried]:
        """Attempts that did not succeed."""
        return await self._rows("retries", Retried)

    async def story(self) -> list[Attempt]:
        """The attempts of the item that needed most."""
        return await self._rows("story", Attempt)

    async def _rows(self, name: str, kind: type[T]) -> list[T]:
        async with self._conn.cursor(row_factory=class_row(kind)) as cursor:
            await cursor.execute(text(name), self._capture)
            return await cursor.fetchall()

    async def _counts(self, name: str) -> list[Count]:
        rows = await (await self._conn.execute(text(name), self._capture)).fetchall()
        return [Count(str(name), int(items)) for name, items in rows]
