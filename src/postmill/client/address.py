"""Where the database is: the argument, else settings and environment, else what `postmill up` left here."""

from __future__ import annotations

from pathlib import Path

from postmill.domain.errors import DatabaseMissing
from postmill.domain.settings_load import load

LEFT_BY_UP = Path(".postmill") / "postmill.env"
VARIABLE = "POSTMILL_DATABASE_URL"


def find_database(conninfo: str | None = None, *, folder: Path | None = None) -> str:
    """A connection string: `conninfo`, else the setting `database_url`, else `.postmill/postmill.env`.

    Settings and `.postmill` are looked for in `folder` (default: the current one), and in the environment.

    Raises:
        DatabaseMissing: none of them names a database; says where it was looked for.
        SettingsError: the settings cannot be read.
    """
    here = Path() if folder is None else folder
    found = conninfo or load(folder=here).dsn or _left_by_up(here / LEFT_BY_UP)
    if not found:
        raise DatabaseMissing(
            f"no database is named: give a connection string, set {VARIABLE} or database_url in"
            f" postmill.toml, or start one here with: postmill up (no {here.absolute() / LEFT_BY_UP} yet)"
        )
    return found


def _left_by_up(file: Path) -> str | None:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, value = line.strip().removeprefix("export ").partition("=")
        if name.strip() == VARIABLE:
            return value.strip().strip("\"'") or None
    return None
