"""What the application is told by its environment. Postmill's own settings are in postmill.toml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

API = "https://api.dropboxapi.com"
CONTENT = "https://content.dropboxapi.com"

VARIABLES = {
    "database_url": "ZOLTAG_DATABASE_URL",
    "library": "ZOLTAG_LIBRARY",
    "secret_key": "ZOLTAG_SECRET_KEY",
    "api_url": "DROPBOX_API_URL",
    "content_url": "DROPBOX_CONTENT_URL",
    "page": "DROPBOX_PAGE",
}
"""Fields by their variables: what a job definition's `env_allow` lets through."""


class SettingsMissing(Exception):
    """A variable is missing or wrong; the message names it."""


class Settings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    database_url: SecretStr
    library: Path
    """The folder of pictures; hosts share it."""
    secret_key: SecretStr
    """Encrypts tokens in the database: `python -m examples.photos.tokens` makes one."""
    api_url: str = API
    content_url: str = CONTENT
    page: int = Field(default=200, ge=1, le=2000)
    """Entries of one page of a listing: so often progress is kept."""


def from_environment(env: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this process. Raises SettingsMissing."""
    given = {field: env[name] for field, name in VARIABLES.items() if env.get(name)}
    try:
        return Settings.model_validate(given)
    except ValidationError as fault:
        [first, *_] = fault.errors(include_input=False)
        name = VARIABLES[str(first["loc"][0])]
        raise SettingsMissing(f"{name}: {first['msg']}; see examples/photos/README.md") from None
