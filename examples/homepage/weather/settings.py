"""What the environment says of weather."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from examples.homepage.environment import read

VARIABLES = {"nws_url": "NWS_URL", "open_meteo_url": "OPEN_METEO_URL", "timeout": "WEATHER_TIMEOUT"}


class WeatherSettings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    nws_url: str = "https://api.weather.gov"
    open_meteo_url: str = "https://api.open-meteo.com"
    timeout: float = Field(default=20.0, gt=0)
    """Seconds of one request."""


def from_environment(env: Mapping[str, str] = os.environ) -> WeatherSettings:
    """The settings of this process. Raises SettingsMissing."""
    return read(WeatherSettings, VARIABLES, env)
