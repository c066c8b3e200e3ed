"""Small helpers of these tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from tests.support.workers import state

Conn = AsyncConnection[Any]

URL, OPTIONS = "POSTMILL_ARTIFACTS__URL", "POSTMILL_ARTIFACTS__OPTIONS"

BIG = os.urandom(1 << 20) * 3
"""More than one chunk, and less than the largest file of these tests."""

LARGEST = 4 << 20


def files(folder: Path) -> list[str]:
    """Every file below a folder, by its path there."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


async def rows(conn: Conn, query: str, *args: Any) -> list[tuple[Any, ...]]:
    return await (await conn.execute(query.encode(), args)).fetchall()


async def succeeded(conn: Conn, id: UUID) -> bool:
    """Whether a job is."""
    return await state(conn, id) == "succeeded"
