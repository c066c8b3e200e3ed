"""What a binding gives for one kind of connection."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from postmill.store.flow import Load
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class Blocking:
    """How to run statements on a kind of connection that blocks; `load` only where its driver can COPY."""

    fetch: Callable[[Any, Statement[Any]], Rows]
    load: Callable[[Any, Load], list[Any]] | None = None


@dataclass(frozen=True, slots=True)
class Awaiting:
    """The same for a kind of connection that is awaited."""

    fetch: Callable[[Any, Statement[Any]], Awaitable[Rows]]
    load: Callable[[Any, Load], Awaitable[list[Any]]] | None = None


@lru_cache(maxsize=1024)
def pyformat(sql: str) -> str:
    """The text with `%(p1)s` in place of `$1`, for drivers that take parameters by name."""
    return re.sub(r"\$(\d+)", r"%(p\1)s", sql.replace("%", "%%"))


def named(args: tuple[Any, ...]) -> dict[str, Any]:
    """The arguments under the names that `pyformat` writes."""
    return {f"p{n}": value for n, value in enumerate(args, 1)}
