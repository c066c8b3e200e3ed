"""What the application itself is told by its environment. Postmill's own settings are in postmill.toml."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from postmill.errors import SettingsError

PREFIX = "ENRICHMENT_"


class AppSettings(BaseModel):
    """Each field is the variable ENRICHMENT_<FIELD>; the database may also be POSTMILL_DATABASE_URL."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    database_url: SecretStr
    api_url: str
    """Where the enrichment service is: the real one, or the stand-in of `examples/upstreams`."""
    api_key: SecretStr | None = None
    api_timeout: float = Field(default=10.0, gt=0)
    """Seconds that one call may take."""
    connections: int = Field(default=4, ge=1)
    """Most connections with which one worker process reads items."""


def from_environment(env: Mapping[str, str] = os.environ) -> AppSettings:
    """The settings of this process. Raises SettingsError that names a missing variable."""
    given = {
        field: env[PREFIX + field.upper()]
        for field in AppSettings.model_fields
        if env.get(PREFIX + field.upper())
    }
    if "database_url" not in given and env.get("POSTMILL_DATABASE_URL"):
        given["database_url"] = env["POSTMILL_DATABASE_URL"]
    for field, what in (
        ("database_url", "a PostgreSQL URL"),
        ("api_url", "the enrichment service's address"),
    ):
        if field not in given:
            raise SettingsError(f"set {PREFIX}{field.upper()} to {what}; see examples/enrichment/README.md")
    return AppSettings.model_validate(given)
