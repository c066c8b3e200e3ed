"""The statement that tells of a page of jobs which of them a limit or a version holds back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

What = Literal["tenant_limit", "limit", "rate", "version", "type"]


@dataclass(frozen=True, slots=True)
class Wait:
    """What holds a ready job back.

    Attributes:
        what: its tenant's cap, a limit whose seats are all taken, a rate, the version that it is bound to, or its type, which
            a worker did not know and put back.
        name: of the limit (empty: the tenant's own cap); of a version its number, of a type its name, and the live workers
            that run it.
    """

    what: What
    name: str

    @property
    def unserved(self) -> bool:
        """Whether no live worker runs its version or knows its type."""
        return self.what in ("version", "type") and self.name.endswith(" 0")


def read_waits(ids: Sequence[UUID], *, schema: str = DEFAULT_SCHEMA) -> Statement[dict[UUID, Wait]]:
    """By id those of these jobs that are ready and are held back; one that has to wait for nothing has no entry."""
    return Statement(
        "read_waits",
        sql("limits/read_waits", schema),
        (list(ids),),
        lambda rows: {row[0]: Wait(*row[1:]) for row in rows},
    )
