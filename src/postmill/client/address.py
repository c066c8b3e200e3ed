"""Where the database is: the argument, else settings and environment, else what `postmill up` left here."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from postmill.domain.errors import DatabaseMissing
from postmill.domain.settings import Settings
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.domain.settings_load import load

LEFT_BY_UP = Path(".postmill") / "postmill.env"
VARIABLE = "POSTMILL_DATABASE_URL"
STORE_VARIABLE = "POSTMILL_ARTIFACTS__URL"


def find_database(conninfo: str | None = None, *, folder: Path | None = None) -> str:
    """A connection string: `conninfo`, else the setting `database_url`, else `.postmill/postmill.env`.

    Settings and `.postmill` are looked for in `folder` (default: the current one), and in the environment.

    Raises:
        DatabaseMissing: none of them names a database; says where it was looked for.
        SettingsError: the settings cannot be read.
    """
    here = Path() if folder is None else folder
    found = conninfo or load(folder=here).dsn or left_by_up(here)
    if not found:
        raise DatabaseMissing(
            f"no database is named: give a connection string, set {VARIABLE} or database_url in"
            f" postmill.toml, or start one here with: postmill up (no {here.absolute() / LEFT_BY_UP} yet)"
        )
    return found


def may_prepare(asked: bool | None = None, *, folder: Path | None = None) -> bool:
    """Whether statements may be prepared on the server: as `asked`, else by the setting `prepared_statements`.

    Raises SettingsError as `find_database` does.
    """
    return load(folder=Path() if folder is None else folder).prepared_statements if asked is None else asked


def find_store(dsn: str, settings: Settings | None = None, *, folder: Path | None = None) -> ArtifactSettings:
    """The settings of artifacts; where they name no store, and `dsn` is the database that `postmill up` left, its store.

    Raises SettingsError as `find_database` does.
    """
    here = Path() if folder is None else folder
    found = (load(folder=here) if settings is None else settings).artifacts
    left = left_by_up(here, STORE_VARIABLE) if found.url is None and dsn == left_by_up(here) else None
    return found if left is None else found.model_copy(update={"url": SecretStr(left)})


def left_by_up(folder: Path | None = None, variable: str = VARIABLE) -> str | None:
    """What `postmill up` left in `folder` (default: the current one): the database's URL, or another variable; or None."""
    try:
        lines = ((folder or Path()) / LEFT_BY_UP).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, value = line.strip().removeprefix("export ").partition("=")
        if name.strip() == variable:
            return value.strip().strip("\"'") or None
    return None


def not_running(dsn: str, fault: BaseException, *, folder: Path | None = None) -> str | None:
    """What to say where `dsn` is what `postmill up` left in `folder`, and its server does not answer; else None.

    The file stays when the server stops, or is killed. An error that a server has sent is no silence.
    """
    if dsn != left_by_up(folder) or "FATAL" in str(fault):
        return None
    return f"the server that {LEFT_BY_UP} in this folder names does not answer; start it with: postmill up"
