"""What `postmill up` keeps in a folder: a server, a migrated database, and its address for everybody here."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from postmill.client.address import LEFT_BY_UP, VARIABLE
from postmill.local.errors import LocalServerError
from postmill.local.server import LocalServer
from postmill.schema.migration import Migration
from postmill.schema.runner import migrate
from postmill.store.catalog import DEFAULT_SCHEMA

DEFAULT_FOLDER = LEFT_BY_UP.parent

ENVIRONMENT = LEFT_BY_UP.name

_LOOK_EVERY = 0.5  # seconds between two looks whether the server lives


class LocalDatabase:
    """A server in a data folder, migrated, its URL written down. The data stays when it stops.

    Args:
        data: the folder; made if missing.
        schema: name of the schema.
        here: the folder in whose `.postmill` clients look (default: the current one).
        more: further variables to write down beside the URL.
        told: takes lines about what takes its time.

    Entering starts it; leaving stops it. In between it is started again whenever it dies. Raises LocalServerError. PostgreSQL's
    own settings are those of `server.settings`, to be changed before: `database.server.settings["max_connections"] = "300"`.
    """

    def __init__(
        self,
        data: Path,
        *,
        schema: str = DEFAULT_SCHEMA,
        here: Path | None = None,
        more: Mapping[str, str] | None = None,
        told: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.data = data.absolute()
        self.server = LocalServer(self.data)
        self.applied: tuple[Migration, ...] = ()
        self._schema = schema
        self._here = Path.cwd() if here is None else here
        self._more = dict(more or {})
        self._told = told
        self._leaving = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="postmill up: keeps the server", daemon=True)

    @property
    def dsn(self) -> str:
        """URL of the database."""
        return self.server.dsn()

    @property
    def environment_file(self) -> Path:
        """The file with POSTMILL_DATABASE_URL in it, for `source` and for `Client()`."""
        return self.data / ENVIRONMENT

    def __enter__(self) -> Self:
        self.server.lock()
        first = not self.server.cluster.exists()
        self._told(f"{'making' if first else 'starting'} the database in {self.data}")
        self.server.start()
        try:
            self.applied = migrate(self.dsn, self._schema)
            self._write_down()
        except BaseException:
            self.server.stop()
            raise
        self._keeper.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving.set()
        self._keeper.join()
        self.server.stop()

    def _keep(self) -> None:
        """Killed, say by a machine short of memory, it comes back with all that was committed."""
        while not self._leaving.wait(_LOOK_EVERY):
            if self.server.pid is None:
                self._told("the database server has ended; it is started again")
                try:
                    self.server.start()
                    self._told("the database server runs again")
                except LocalServerError as fault:
                    self._told(f"it did not start: {fault}")

    def _write_down(self) -> None:
        text = "".join(f"{name}='{value}'\n" for name, value in ({VARIABLE: self.dsn} | self._more).items())
        _write(self.environment_file, text)
        left = self._here / LEFT_BY_UP
        if left.parent.absolute() != self.data:
            left.parent.mkdir(exist_ok=True)
            _write(left, text)
        for folder in {self.data, left.parent}:
            ignore = folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("# A database of this machine, made by postmill up.\n*\n", encoding="utf-8")


def _write(file: Path, text: str) -> None:
    """Whole or not at all, for its owner's eyes only."""
    beside = file.with_name(f"{file.name}.new")
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        out.write(text)
    beside.replace(file)
