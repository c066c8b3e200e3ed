"""What the tests share: tenants with a Dropbox each, the stand-in, the library, and the commands in this process."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
from cryptography.fernet import Fernet
from psycopg import Connection

from examples.photos import statements
from examples.photos.cli import main
from examples.photos.pictures.draw import Picture, draw_picture
from examples.photos.providers import connect_provider
from examples.upstreams.dropbox.account import Account
from examples.upstreams.dropbox.server import QUIET, DropboxServer
from examples.upstreams.script import Script
from postmill.bind import drive
from postmill.operate.tenants import create_tenant

BIN = statements.FOLDER / "bin"


@dataclass
class Tenant:
    """A tenant with a Dropbox."""

    id: UUID
    slug: str
    account: Account
    token: str
    provider: UUID

    def upload(self, pictures: Sequence[Picture], folder: str = "") -> None:
        """Put pictures into its Dropbox, without a word to anybody."""
        for picture in pictures:
            self.account.upload(f"{folder}/{picture.name}", picture.jpeg)


@dataclass
class Studio:
    """The application in a test's database."""

    dsn: str
    conn: Connection[Any]
    dropbox: DropboxServer
    folder: Path
    key: str = field(default_factory=lambda: Fernet.generate_key().decode())

    @property
    def env(self) -> dict[str, str]:
        """What its programs are told."""
        return {
            "ZOLTAG_DATABASE_URL": self.dsn,
            "ZOLTAG_LIBRARY": str(self.folder),
            "ZOLTAG_SECRET_KEY": self.key,
            "DROPBOX_API_URL": self.dropbox.url,
            "DROPBOX_CONTENT_URL": self.dropbox.url,
            "DROPBOX_PAGE": "10",
        }

    def tenant(self, slug: str, timezone: str = "America/New_York") -> Tenant:
        """A new tenant with an empty Dropbox that is connected."""
        id = drive(self.conn, create_tenant(slug, timezone=timezone)).id
        token = f"sl.u.{uuid4().hex}{uuid4().hex}"
        account = self.dropbox.accounts[token] = Account(f"dbid:{slug.upper()}{uuid4().hex[:12]}")
        provider = connect_provider(self.conn, id, account.id, token, key=self.key)
        return Tenant(id, slug, account, token, provider)

    def zoltag(self, command: str, tenant: Tenant, *more: str, job: UUID | None = None) -> int:
        """A command in this process; its exit code. `job`: as that job."""
        before = dict(os.environ)
        os.environ.update(self.env | ({} if job is None else {"POSTMILL_JOB_ID": str(job)}))
        try:
            return main([command, "--tenant-id", str(tenant.id), *more])
        finally:
            os.environ.clear()
            os.environ.update(before)

    def rows(self, query: str, *args: object) -> list[tuple[Any, ...]]:
        """Rows of a query."""
        return self.conn.execute(query.encode(), args).fetchall()

    def pictures(self, tenant: Tenant) -> list[str]:
        """Names of a tenant's pictures."""
        return [
            name
            for (name,) in self.rows("select name from pictures where tenant_id = %s order by 1", tenant.id)
        ]


def drawn(count: int, seed: int = 1, start: int = 0) -> list[Picture]:
    """Some pictures, always the same."""
    return [draw_picture(number, seed) for number in range(start, start + count)]


@contextmanager
def serving(script: Script = QUIET, host: str = "127.0.0.1") -> Iterator[DropboxServer]:
    """The stand-in in a thread."""
    server = DropboxServer({}, script, host=host)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="dropbox")
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def opened(dsn: str, folder: Path, server: DropboxServer) -> Iterator[Studio]:
    """The application's tables in a migrated database."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(statements.schema())
        yield Studio(dsn, conn, server, folder)
