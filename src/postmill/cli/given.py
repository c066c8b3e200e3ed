"""The options of every command, as they were typed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Given:
    """The options of every command, as they were typed; `build` is of those that run jobs."""

    config: Path | None = None
    dsn: str | None = None
    schema: str | None = None
    json: bool = False
    debug: bool = False
    cell: str | None = None
    build: str | None = None

    def overridden_by(self, later: Given) -> Given:
        """These options, with those after the command's name winning over those before it."""
        return Given(
            config=later.config or self.config,
            dsn=self.dsn if later.dsn is None else later.dsn,
            schema=later.schema or self.schema,
            json=later.json or self.json,
            debug=later.debug or self.debug,
            cell=later.cell or self.cell,
            build=later.build or self.build,
        )

    def overrides(self) -> dict[str, Any]:
        """The options as settings. A --dsn also says where to listen: the setting is for another server."""
        found: dict[str, Any] = {}
        if self.dsn:
            found |= {"database_url": self.dsn, "listen_url": None}
        if self.schema:
            found["schema"] = self.schema
        if self.build:
            found["build"] = self.build
        return found
