"""An operation of more than one statement: a generator that yields steps and receives their answers.

So each operation exists once, for callers that block and callers that await; `postmill.bind` drives it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Load:
    """Rows for COPY, and the statements that move them on in the same transaction.

    The answer is the list of the statements' answers, in their order.

    Attributes:
        name: the operation's name.
        copy: the COPY statement, text format.
        schema, table, columns: the same once more, for drivers that write the statement themselves.
        rows: encoded rows, many in one piece.
        then: what to run after the rows are in.
    """

    name: str
    copy: str
    schema: str
    table: str
    columns: tuple[str, ...]
    rows: Iterable[bytes]
    then: tuple[Statement[Any], ...]


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before the next step, holding neither a transaction nor a connection."""

    seconds: float


Step: TypeAlias = Statement[Any] | Load | Pause

R = TypeVar("R")
Flow: TypeAlias = Generator[Step, Any, R]


def once(statement: Statement[R]) -> Flow[R]:
    """A flow of one statement."""
    answer: R = yield statement
    return answer
