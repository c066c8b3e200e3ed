"""What the environment says of the content delivery network."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from examples.homepage.environment import read

VARIABLES = {
    "storage_url": "CDN_STORAGE_URL",
    "key": "CDN_STORAGE_KEY",
    "public_url": "CDN_URL",
    "timeout": "CDN_TIMEOUT",
    "edge": "CDN_EDGE",
}


class PreviewSettings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    storage_url: str | None = Field(default=None, pattern=r"^https?://[^?#\s]+[^/?#\s]$")
    """The storage zone that files are put into, as `https://storage.bunnycdn.com/ZONE`. None: pictures stay here."""
    key: SecretStr = SecretStr("")
    """The zone's password."""
    public_url: str | None = Field(default=None, pattern=r"^https?://[^?#\s]+[^/?#\s]$")
    """Where visitors find the files, as `https://ZONE.b-cdn.net`. None: where they are put."""
    timeout: float = Field(default=20.0, gt=0)
    """Seconds of one request."""
    edge: int = Field(default=320, ge=16, le=640)
    """Pixels of the longer edge of what visitors get; 640 are kept."""


def preview_settings(env: Mapping[str, str] = os.environ) -> PreviewSettings:
    """The settings of this process. Raises SettingsMissing."""
    return read(PreviewSettings, VARIABLES, env)
