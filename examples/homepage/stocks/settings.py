"""What the environment says of stocks."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from examples.homepage.environment import read

VARIABLES = {
    "api_key": "ALPHAVANTAGE_API_KEY",
    "base_url": "ALPHAVANTAGE_URL",
    "spacing": "ALPHAVANTAGE_SPACING",
    "timeout": "ALPHAVANTAGE_TIMEOUT",
}


class StockSettings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    api_key: SecretStr | None = None
    """Without one the job fails at once, and a worker does all its other work."""
    base_url: str = "https://www.alphavantage.co"
    spacing: float = Field(default=1.2, ge=0)
    """Seconds from one request of a run to the next: the free tier has one a second."""
    timeout: float = Field(default=20.0, gt=0)
    """Seconds of one request."""


def from_environment(env: Mapping[str, str] = os.environ) -> StockSettings:
    """The settings of this process. Raises SettingsMissing."""
    return read(StockSettings, VARIABLES, env)
