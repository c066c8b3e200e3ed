"""Errors of the database that have a better name here: schema missing, two transactions that collided."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from postmill.domain.errors import SchemaMissing, SerializationConflict, TenantMoved, TenantMoving

_UNDEFINED = {"3F000", "42883", "42P01"}
"""Undefined schema, function and table: what our statements name is not there."""

_COLLIDED = {"40001", "40P01"}

_AWAY = {"PM060": TenantMoving, "PM061": TenantMoved}
"""Raised by refuse_away(), where no status can tell it."""


@contextmanager
def worded(operation: str) -> Iterator[None]:
    """Raises what the driver raised, or the typed error that stands for it, caused by the driver's."""
    try:
        yield
    except Exception as error:
        code, context = origin(error)
        # With a context it happened inside a function, so the schema is there and something else is wrong.
        if code in _UNDEFINED and not context:
            raise SchemaMissing(
                f"the database has no Postmill schema that knows {operation!r}; run: postmill migrate"
            ) from error
        if code in _COLLIDED:
            raise SerializationConflict(code) from error
        if code in _AWAY:
            raise _AWAY[code]() from error
        raise


def origin(error: BaseException) -> tuple[str | None, str | None]:
    """SQLSTATE and context of the driver's error, also inside the wrappers of SQLAlchemy and Django."""
    code = context = None
    found: BaseException | None = error
    for _ in range(5):
        if found is None:
            break
        code = getattr(found, "sqlstate", None) or code
        context = getattr(getattr(found, "diag", found), "context", None) or context
        found = getattr(found, "orig", None) or found.__cause__
    return code, context
