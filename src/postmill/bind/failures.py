"""Errors of the database that have a better name here: schema missing, two transactions that collided."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from postmill.domain.errors import SchemaMissing, SerializationConflict

# Undefined schema, function, table; the last two also when an old schema lacks what this version calls.
_MISSING = {"3F000", "42883", "42P01"}
_COLLIDED = {"40001", "40P01"}


@contextmanager
def worded(operation: str) -> Iterator[None]:
    """Raises what the driver raised, or the typed error that stands for it, caused by the driver's."""
    try:
        yield
    except Exception as error:
        code = sqlstate(error)
        if code in _MISSING:
            raise SchemaMissing(
                f"the database has no Postmill schema that knows {operation!r}; run: postmill migrate"
            ) from error
        if code in _COLLIDED:
            raise SerializationConflict(code) from error
        raise


def sqlstate(error: BaseException | None) -> str | None:
    """The SQLSTATE of a driver's error, also inside the wrappers of SQLAlchemy and Django."""
    for _ in range(5):
        if error is None:
            return None
        code = getattr(error, "sqlstate", None)
        if isinstance(code, str):
            return code
        error = getattr(error, "orig", None) or error.__cause__
    return None
