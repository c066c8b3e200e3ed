"""The SQL files of the package, read once per schema name."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

from postmill.domain.errors import SettingsError

DEFAULT_SCHEMA = "postmill"

_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,47}")


def checked_schema(schema: str) -> str:
    """Return ``schema`` if it can be written into SQL unquoted.

    Raises:
        SettingsError: the name is not 1 to 48 of ``a-z 0-9 _``, not beginning with a digit.
    """
    if not _SCHEMA_NAME.fullmatch(schema):
        raise SettingsError(
            f"schema name {schema!r} is not allowed: use 1 to 48 of a-z, 0-9 and _, not first a digit"
        )
    return schema


@lru_cache(maxsize=1024)
def sql(path: str, schema: str = DEFAULT_SCHEMA) -> str:
    """The text of ``sql/<path>.sql`` for one schema, without its comments at the head."""
    text = (files("postmill") / "sql" / f"{path}.sql").read_text(encoding="utf-8")
    lines = text.splitlines()
    while lines and (not lines[0].strip() or lines[0].startswith("--")):
        lines.pop(0)
    return "\n".join(lines).strip().replace("{schema}", checked_schema(schema))
