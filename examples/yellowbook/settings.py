"""What the application is told by its environment. Postmill's own settings are in postmill.toml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

GOOGLE = "https://generativelanguage.googleapis.com"

VARIABLES = {
    "database_url": "YELLOWBOOK_DATABASE_URL",
    "connections": "YELLOWBOOK_CONNECTIONS",
    "admin_token": "YELLOWBOOK_ADMIN_TOKEN",
    "search_timeout": "YELLOWBOOK_SEARCH_TIMEOUT",
    "api_url": "GEMINI_API_URL",
    "api_key": "GEMINI_API_KEY",
    "api_key_file": "GEMINI_API_KEY_FILE",
    "model": "GEMINI_MODEL",
    "timeout": "GEMINI_TIMEOUT",
}


class SettingsMissing(Exception):
    """A variable is missing or wrong; the message names it."""


class Settings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    database_url: SecretStr
    connections: int = Field(default=8, ge=1)
    """Most connections of one process to the entries."""
    admin_token: SecretStr | None = None
    """Opens what only an administrator may do; without one nobody may."""
    search_timeout: float = Field(default=2.0, gt=0)
    """Seconds that a search waits for the meaning of its words, before it looks for the words."""
    api_url: str = GOOGLE
    api_key: SecretStr | None = None
    api_key_file: Path | None = None
    """A file with the key, read for each call: a new key needs no restart. It wins over `api_key`."""
    model: str = "gemini-embedding-001"
    timeout: float = Field(default=10.0, gt=0)
    """Seconds that one call of a job may take."""

    def key(self) -> str:
        """The API key of this moment. Raises SettingsMissing."""
        if self.api_key_file is not None:
            return self.api_key_file.read_text(encoding="utf-8").strip()
        if self.api_key is None:
            raise SettingsMissing(
                "set GEMINI_API_KEY_FILE or GEMINI_API_KEY; see examples/yellowbook/README.md"
            )
        return self.api_key.get_secret_value()


def from_environment(env: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this process. Raises SettingsMissing."""
    given: dict[str, str] = {field: env[name] for field, name in VARIABLES.items() if env.get(name)}
    if "database_url" not in given and env.get("POSTMILL_DATABASE_URL"):
        given["database_url"] = env["POSTMILL_DATABASE_URL"]
    try:
        return Settings.model_validate(given)
    except ValidationError as fault:
        [first, *_] = fault.errors(include_input=False)
        name = VARIABLES[str(first["loc"][0])]
        raise SettingsMissing(f"{name}: {first['msg']}; see examples/yellowbook/README.md") from None
