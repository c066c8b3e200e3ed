"""Make the drawings anew, by the embedded PostgreSQL."""

from __future__ import annotations

import tempfile

import psycopg

from postmill.local.server import LocalServer
from postmill.schema.runner import migrate
from tests.support.erd.files import drawings

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, LocalServer(folder) as server:
        migrate(server.dsn())
        with psycopg.connect(server.dsn(), autocommit=True) as conn:
            for file, text in drawings(conn).items():
                file.write_text(text, encoding="utf-8")
