"""The terms of the query language."""

from __future__ import annotations

from postmill.domain.query_fields import FIELDS
from tests.support.reference.markdown import code, table


def terms() -> str:
    """Each term, what it finds, and which index answers it."""
    rows = [(code(one.example), one.help, one.index) for one in FIELDS.values()]
    return table(("term", "finds jobs", "by"), rows)
