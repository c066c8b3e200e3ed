"""A PostgreSQL server of one's own, in a folder, for a first try, for tests and for `postmill up`.

    with LocalDatabase(Path("data")) as database:
        client = Client(database.dsn)

The extra `embedded` brings the server; without it, the machine's own programs are used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postmill.local.errors import LocalServerError
    from postmill.local.up import LocalDatabase

__all__ = ["LocalDatabase", "LocalServerError"]

_HOME_OF = {"LocalDatabase": "up", "LocalServerError": "errors"}


def __getattr__(name: str) -> Any:
    # Those who want a part of this package want it without the migrations that come with the whole.
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
    found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found
