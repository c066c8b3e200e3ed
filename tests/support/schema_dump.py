"""`make schema`: writes src/postmill/sql/schema.sql anew from the migrations, by the embedded PostgreSQL."""

from __future__ import annotations

import tempfile
from pathlib import Path

from postmill.local.binaries import find_bindir
from postmill.local.server import LocalServer
from postmill.schema.dump import dump_schema
from postmill.schema.runner import migrate

TARGET = Path(__file__).parents[2] / "src" / "postmill" / "sql" / "schema.sql"


def main() -> None:
    """Start a server in a folder that goes away, migrate, dump."""
    with tempfile.TemporaryDirectory() as folder, LocalServer(folder) as server:
        migrate(server.dsn())
        TARGET.write_text(dump_schema(server.dsn(), find_bindir()), encoding="utf-8")


if __name__ == "__main__":
    main()
