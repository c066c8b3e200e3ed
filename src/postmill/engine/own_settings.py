"""What the engine's connections set for themselves, whatever the role and the database have as their defaults.

A role may have a `statement_timeout` for its people, a `search_path` for its application, or `array_nulls = off` for a
program of 2004. They are set in the startup packet and not by SET: a pooler in transaction mode either refuses such a
packet (then they are left out, and `postmill doctor` names what is dangerous) or ignores it, while a SET would stay on a
connection that others get next.
"""

from __future__ import annotations

from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo

SETTINGS = {
    "array_nulls": "on",
    "datestyle": "ISO",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "jit": "off",
    "lock_timeout": "0",
    "row_security": "on",
    "search_path": "pg_catalog",
    "statement_timeout": "0",
    "timezone": "UTC",
}
SINCE_17 = {"transaction_timeout": "0"}
"""An older server refuses a setting that it does not know, so this is set only where one is in the way."""


def with_settings(conninfo: str, *, since_17: bool = False) -> str:
    """`conninfo` with ours after the options that it, or the environment, has already."""
    given = conninfo_to_dict(conninfo).get("options") or _default_options()
    ours = SETTINGS | (SINCE_17 if since_17 else {})
    words = [f"-c {name}={value}".replace(" ", "\\ ").replace("-c\\ ", "-c ") for name, value in ours.items()]
    return make_conninfo(conninfo, options=" ".join(filter(None, [str(given), *words])))


def refused(error: Exception) -> bool:
    """Did a pooler refuse to pass settings on? Should it be something else, the next attempt will say so."""
    text = str(error).lower()
    return "startup parameter" in text or "options" in text


def _default_options() -> str:
    """PGOPTIONS, which libpq takes only where a connection string has none."""
    found = next((line.val for line in Conninfo.get_defaults() if line.keyword == b"options"), None)
    return (found or b"").decode()
